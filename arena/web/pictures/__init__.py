"""Pictures for previews of links, as chat programs and social networks show them."""
