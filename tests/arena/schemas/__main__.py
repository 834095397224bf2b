from tests.arena.schemas import write_rows

write_rows()
