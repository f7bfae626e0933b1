-- Memoranda, schema 6: the signs of vectors stand in an ordinary table.

-- The signs of the vectors' numbers (store/embedding/bits.py), packed: by them a search by meaning chooses which vectors
-- it compares. Some thousand records of one kind together (store/embedding/keepers.py).
CREATE TABLE vector_blocks(
  id INTEGER PRIMARY KEY,           -- block * 2 + the model's slot
  ids BLOB NOT NULL,                -- rows of the corpus: whole numbers of 64 bits, little-endian
  signs BLOB NOT NULL               -- for each of them its vector's signs, in whole words of 64 bits
);
-- what stood in tables of vec0 is made anew, from the stored vectors
DELETE FROM meta WHERE key GLOB 'embedding.bits.*';
