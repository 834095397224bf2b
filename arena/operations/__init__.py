"""Everything that can be asked of an arena, each thing once; all doors are made from these functions."""
