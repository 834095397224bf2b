//! Generates the messages from `proto/`, without protoc.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto");
    let files = protox::compile(["referee/v1/bots.proto", "referee/v1/errors.proto"], ["proto"])?;
    tonic_prost_build::configure().compile_fds(files)?; // with a server, for the tests
    Ok(())
}
