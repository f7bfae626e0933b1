-- Memoranda, schema 18: two indexes go that each write kept up to date. An actor's steps in force are found by
-- `history_actor`, as few are undone; the queue of texts to embed is sorted when it is read, once in some seconds.

DROP INDEX history_in_force;
DROP INDEX embedding_queue_first;

-- the first look at vectors compares two bits a number now, not one: the next indexing makes them from the vectors
DELETE FROM meta WHERE key IN ('embedding.bits.0', 'embedding.bits.1') AND value GLOB 'numpy *';
DELETE FROM vector_blocks;
