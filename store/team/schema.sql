-- Memoranda: the shared records of teams, written by `memoranda team replicate` alone. It can be run again: what an older
-- version made is brought up to this one, and no record and no right is lost.
--
-- Readers are roles named in `access`: they see the records of a team and domain, who wrote for these teams, and never
-- the operations. `team` is in every key, so that the tables can be partitioned or distributed by it.

CREATE SCHEMA IF NOT EXISTS memoranda;
CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE IF NOT EXISTS memoranda.writers(
  team text NOT NULL,
  writer text NOT NULL,
  name text NOT NULL DEFAULT '',
  seq bigint NOT NULL,              -- the newest operation that is here
  head text NOT NULL,               -- the commit that holds it
  PRIMARY KEY (team, writer)
);

CREATE TABLE IF NOT EXISTS memoranda.operations(
  team text NOT NULL,
  writer text NOT NULL,
  seq bigint NOT NULL,
  at timestamptz NOT NULL,
  op text NOT NULL,
  id text NOT NULL,
  fields jsonb NOT NULL,
  base jsonb NOT NULL,
  PRIMARY KEY (team, writer, seq)
);
CREATE INDEX IF NOT EXISTS operations_record ON memoranda.operations(team, id);

CREATE TABLE IF NOT EXISTS memoranda.records(
  team text NOT NULL,
  id text NOT NULL,                 -- F2@3c7vjyhh2avx
  kind text NOT NULL CHECK (kind IN ('fact', 'decision')),
  author text NOT NULL,
  domain text NOT NULL,             -- of a decision: decisions
  status text NOT NULL CHECK (status IN ('active', 'forgotten', 'purged')),
  title text NOT NULL,
  body text NOT NULL,
  fields jsonb NOT NULL,
  conflict boolean NOT NULL,
  english tsvector NOT NULL GENERATED ALWAYS AS
    (setweight(to_tsvector('english', title), 'A') || to_tsvector('english', body)) STORED,
  spanish tsvector NOT NULL GENERATED ALWAYS AS
    (setweight(to_tsvector('spanish', title), 'A') || to_tsvector('spanish', body)) STORED,
  PRIMARY KEY (team, id)
);

-- one key of `access` as a word, and a record's words together with those of the two keys that let it be read. These are
-- in the indexes of words, so that a search fetches what its reader may read and nothing else.
CREATE OR REPLACE FUNCTION memoranda.scope(team text, domain text) RETURNS text LANGUAGE sql IMMUTABLE
  AS $$ SELECT hashtextextended(team || E'\n' || domain, 0)::text $$;
CREATE OR REPLACE FUNCTION memoranda.scoped(words tsvector, team text, domain text) RETURNS tsvector LANGUAGE sql IMMUTABLE
  AS $$ SELECT words || array_to_tsvector(ARRAY[memoranda.scope(team, '*'), memoranda.scope(team, domain)]) $$;
DROP INDEX IF EXISTS memoranda.records_english, memoranda.records_spanish;
CREATE INDEX IF NOT EXISTS records_words_english ON memoranda.records
  USING gin(memoranda.scoped(english, team, domain)) WHERE status = 'active';
CREATE INDEX IF NOT EXISTS records_words_spanish ON memoranda.records
  USING gin(memoranda.scoped(spanish, team, domain)) WHERE status = 'active';
CREATE INDEX IF NOT EXISTS records_newest ON memoranda.records(team, (fields->>'created') DESC NULLS LAST);

CREATE TABLE IF NOT EXISTS memoranda.embeddings(
  team text NOT NULL,
  id text NOT NULL,
  model text NOT NULL,              -- what computed it: vectors of different ones cannot be compared
  vector vector(384) NOT NULL,      -- of unit length
  PRIMARY KEY (team, id),
  FOREIGN KEY (team, id) REFERENCES memoranda.records(team, id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS embeddings_near ON memoranda.embeddings USING hnsw(vector vector_cosine_ops);

-- which role reads what: '*' is every domain
CREATE TABLE IF NOT EXISTS memoranda.access(
  role name NOT NULL,
  team text NOT NULL,
  domain text NOT NULL DEFAULT '*',
  PRIMARY KEY (role, team, domain)
);

CREATE OR REPLACE FUNCTION memoranda.readable() RETURNS TABLE(team text, domain text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  AS $$ SELECT a.team, a.domain FROM memoranda.access a WHERE pg_has_role(session_user, a.role, 'member') $$;

ALTER TABLE memoranda.records ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoranda.embeddings ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoranda.writers ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS readers ON memoranda.records;
CREATE POLICY readers ON memoranda.records FOR SELECT USING (
  team IN (SELECT a.team FROM memoranda.readable() a WHERE a.domain = '*')
  OR (team, domain) IN (SELECT a.team, a.domain FROM memoranda.readable() a)
);
DROP POLICY IF EXISTS readers ON memoranda.embeddings;
CREATE POLICY readers ON memoranda.embeddings FOR SELECT
  USING (EXISTS (SELECT 1 FROM memoranda.records r WHERE r.team = embeddings.team AND r.id = embeddings.id));
DROP POLICY IF EXISTS readers ON memoranda.writers;
CREATE POLICY readers ON memoranda.writers FOR SELECT USING (team IN (SELECT a.team FROM memoranda.readable() a));
GRANT USAGE ON SCHEMA memoranda TO PUBLIC;
GRANT SELECT ON memoranda.records, memoranda.embeddings TO PUBLIC;
GRANT SELECT (team, writer, name) ON memoranda.writers TO PUBLIC;

CREATE OR REPLACE FUNCTION memoranda.version() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 4';

-- what computed the vectors of each team that the caller may read: one replication embeds all of a team
CREATE OR REPLACE FUNCTION memoranda.models() RETURNS TABLE(team text, model text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  AS $$
    SELECT y.team, m.model FROM (SELECT DISTINCT a.team FROM memoranda.readable() a) y
    CROSS JOIN LATERAL (SELECT e.model FROM memoranda.embeddings e WHERE e.team = y.team LIMIT 1) m
  $$;

-- the words of a query in a language ('english', 'spanish'), the rarest first as ANALYZE counted them, six at the most
CREATE OR REPLACE FUNCTION memoranda.rarest(query text, language name) RETURNS text[] LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp
  AS $$
    SELECT coalesce(array_agg(word ORDER BY often, word), '{}') FROM (
      SELECT word, coalesce(often, 0) AS often
      FROM unnest(tsvector_to_array(to_tsvector(language::text::regconfig, query))) word
      LEFT JOIN (
        SELECT counted.word, max(counted.often) AS often
        FROM pg_stats s, unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) counted(word, often)
        WHERE s.schemaname = 'memoranda' AND s.tablename = 'records' AND s.attname = language GROUP BY 1
      ) known USING (word)
      ORDER BY 2, 1 LIMIT 6
    ) chosen
  $$;

-- what has all but so many of these words, that at `from_word` being the first that it has; null where none can have that
CREATE OR REPLACE FUNCTION memoranda.lacking(number integer, from_word integer, words text[]) RETURNS tsquery
  LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
  AS $$
    WITH quoted AS (
      SELECT place, '''' || replace(replace(word, '\', '\\'), '''', '''''') || '''' AS word
      FROM unnest(words) WITH ORDINALITY AS each(word, place)
    ), choices AS (
      SELECT string_agg(word, '&') AS several FROM generate_series(1, (1 << cardinality(words)) - 1) chosen, quoted
      WHERE chosen & (1 << (place - 1)::integer) > 0
      GROUP BY chosen HAVING count(*) = cardinality(words) - number AND min(place) = from_word
    )
    SELECT (string_agg('(' || several || ')', '|'))::tsquery
      && coalesce((SELECT '!(' || string_agg(word, '|') || ')' FROM quoted WHERE place < from_word), '')::tsquery
    FROM choices
  $$;

-- Records of these scopes with some of the words of a query: those that lack the fewest first, and of these those with the
-- rarest, so that what is left out of very many is what has common words alone. It ends once there are enough.
CREATE OR REPLACE FUNCTION memoranda.some_words(query text, scopes tsquery)
  RETURNS TABLE(team text, id text, english tsvector, spanish tsvector, lacks integer, rarest integer)
  LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
  DECLARE
    in_english text[] := memoranda.rarest(query, 'english');
    in_spanish text[] := memoranda.rarest(query, 'spanish');
    found integer;
    more integer;
  BEGIN
    FOR number IN 1 .. greatest(cardinality(in_english), cardinality(in_spanish)) - 1 LOOP
      found := 0;
      FOR from_word IN 1 .. number + 1 LOOP
        RETURN QUERY SELECT r.team, r.id, r.english, r.spanish, number, from_word FROM memoranda.records r
          WHERE r.status = 'active'
            AND (memoranda.scoped(r.english, r.team, r.domain) @@ (memoranda.lacking(number, from_word, in_english) && scopes)
              OR memoranda.scoped(r.spanish, r.team, r.domain) @@ (memoranda.lacking(number, from_word, in_spanish) && scopes))
          LIMIT 5000;
        GET DIAGNOSTICS more = ROW_COUNT;
        found := found + more;
        IF found >= 100 THEN
          RETURN;
        END IF;
      END LOOP;
    END LOOP;
  END $$;

-- Words in both languages, fused with meaning where a vector is given, by the weights of Memoranda's own search: 1 where
-- all the words are there, words as a share of the best (1.0), half as much for each word that lacks, meaning from the pool's
-- last, 0, to its best, 1 (0.5). At most 5,000 records with all the words are ranked, those with some that `some_words` gives, and
-- the 100 nearest of what the caller may read, however many of other teams are nearer. `of_model` is what computed the
-- vector, and `in_team` the team to search: without it each that the caller may read. `whole` is 1 for all the words, 0 for some, and null, as `cosine` is, for what
-- that signal did not find. It runs with its owner's rights, since an index of words cannot be used under row-level
-- security, and returns what the caller may read.
DROP FUNCTION IF EXISTS memoranda.search(text, vector, integer);
CREATE OR REPLACE FUNCTION memoranda.search(query text, near vector DEFAULT NULL, most integer DEFAULT 20,
    of_model text DEFAULT NULL, in_team text DEFAULT NULL)
  RETURNS TABLE(team text, id text, kind text, domain text, title text, body text, score double precision,
    whole integer, cosine double precision)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
  SET hnsw.iterative_scan = relaxed_order AS $$
  WITH readable AS MATERIALIZED (
    SELECT a.team, a.domain FROM memoranda.readable() a WHERE in_team IS NULL OR a.team = in_team
  ),
  asked AS MATERIALIZED (
    SELECT plainto_tsquery('english', query) AS english, plainto_tsquery('spanish', query) AS spanish,
      replace(plainto_tsquery('english', query)::text, '&', '|')::tsquery AS any_english,
      replace(plainto_tsquery('spanish', query)::text, '&', '|')::tsquery AS any_spanish,
      (SELECT string_agg(quote_literal(memoranda.scope(y.team, y.domain)), '|')::tsquery FROM readable y) AS scopes
  ), scoped AS MATERIALIZED (  -- without a word there is nothing to find
    SELECT CASE WHEN numnode(english) > 0 THEN english && scopes END AS english,
      CASE WHEN numnode(spanish) > 0 THEN spanish && scopes END AS spanish
    FROM asked
  ), every AS MATERIALIZED (
    SELECT r.team, r.id, r.english, r.spanish, 0 AS lacks, 1 AS rarest FROM memoranda.records r, scoped a
    WHERE r.status = 'active' AND (memoranda.scoped(r.english, r.team, r.domain) @@ a.english
        OR memoranda.scoped(r.spanish, r.team, r.domain) @@ a.spanish)
      AND EXISTS (SELECT 1 FROM readable y WHERE y.team = r.team AND y.domain IN ('*', r.domain)) LIMIT 5000
  ), found AS (
    SELECT * FROM every
    UNION ALL
    SELECT s.* FROM asked a CROSS JOIN LATERAL memoranda.some_words(query, a.scopes) s
    WHERE (SELECT count(*) FROM every) < 100  -- as many as are taken: none with some of them is among these
  ), words AS (
    SELECT f.team, f.id, min(ARRAY[f.lacks, f.rarest]) AS place,
      max(greatest(ts_rank_cd(f.english, a.any_english), ts_rank_cd(f.spanish, a.any_spanish))) AS rank
    FROM found f, asked a GROUP BY f.team, f.id ORDER BY 3, 4 DESC LIMIT 100
  ), shares AS (
    SELECT team, id, place[1] AS lacks, rank / nullif(max(rank) OVER (PARTITION BY place), 0) / place[2] AS share FROM words
  ), meaning AS (
    SELECT m.team, m.id, m.cosine
    FROM (SELECT y.team, array_agg(y.domain) AS domains FROM readable y WHERE near IS NOT NULL GROUP BY y.team) t
    CROSS JOIN LATERAL (
      SELECT e.team, e.id, 1 - (e.vector <=> near) AS cosine FROM memoranda.embeddings e
      WHERE e.team = t.team AND (of_model IS NULL OR e.model = of_model) AND (  -- a subquery and not a join, which would compare every vector
        SELECT r.status = 'active' AND t.domains && ARRAY['*', r.domain]
        FROM memoranda.records r WHERE r.team = e.team AND r.id = e.id)
      ORDER BY e.vector <=> near LIMIT 100
    ) m ORDER BY m.cosine DESC LIMIT 100
  ), scaled AS (
    SELECT team, id, (lacks = 0)::integer + CASE lacks WHEN 0 THEN share ELSE by_lack / max(by_lack) OVER (PARTITION BY lacks > 0) END
        AS by_words,
      NULL::float AS by_meaning, (lacks = 0)::integer AS whole, NULL::float AS cosine
    FROM shares CROSS JOIN LATERAL (SELECT (1 + share) / 2 ^ lacks AS by_lack) l
    UNION ALL
    SELECT team, id, NULL, (cosine - min(cosine) OVER ()) / nullif(max(cosine) OVER () - min(cosine) OVER (), 0), NULL,
      cosine
    FROM meaning
  ), fused AS (
    SELECT team, id, coalesce(max(by_words), 0) + 0.5 * coalesce(max(by_meaning), 0) AS score, max(whole) AS whole,
      max(cosine) AS cosine
    FROM scaled GROUP BY team, id
  )
  SELECT r.team, r.id, r.kind, r.domain, r.title, r.body, f.score, f.whole, f.cosine
  FROM fused f JOIN memoranda.records r USING (team, id)
  WHERE r.status = 'active' AND EXISTS (SELECT 1 FROM readable y WHERE y.team = r.team AND y.domain IN ('*', r.domain))
  ORDER BY f.score DESC, r.id LIMIT most
$$;
