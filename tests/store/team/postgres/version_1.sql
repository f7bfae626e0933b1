-- Memoranda: the shared records of teams, written by `memoranda replicate` alone. Version 1.
--
-- Readers are roles named in `access`: they see the records of a team and domain, and never the operations. `team` is in
-- every key, so that the tables can be partitioned or distributed by it.

CREATE SCHEMA IF NOT EXISTS memoranda;
CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE memoranda.writers(
  team text NOT NULL,
  writer text NOT NULL,
  name text NOT NULL DEFAULT '',
  seq bigint NOT NULL,              -- the newest operation that is here
  head text NOT NULL,               -- the commit that holds it
  PRIMARY KEY (team, writer)
);

CREATE TABLE memoranda.operations(
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
CREATE INDEX operations_record ON memoranda.operations(team, id);

CREATE TABLE memoranda.records(
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
CREATE INDEX records_english ON memoranda.records USING gin(english);
CREATE INDEX records_spanish ON memoranda.records USING gin(spanish);

CREATE TABLE memoranda.embeddings(
  team text NOT NULL,
  id text NOT NULL,
  model text NOT NULL,              -- what computed it: vectors of different ones cannot be compared
  vector vector(384) NOT NULL,      -- of unit length
  PRIMARY KEY (team, id),
  FOREIGN KEY (team, id) REFERENCES memoranda.records(team, id) ON DELETE CASCADE
);
CREATE INDEX embeddings_near ON memoranda.embeddings USING hnsw(vector vector_cosine_ops);

-- which role reads what: '*' is every domain
CREATE TABLE memoranda.access(
  role name NOT NULL,
  team text NOT NULL,
  domain text NOT NULL DEFAULT '*',
  PRIMARY KEY (role, team, domain)
);

CREATE FUNCTION memoranda.readable() RETURNS TABLE(team text, domain text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  AS $$ SELECT a.team, a.domain FROM memoranda.access a WHERE pg_has_role(session_user, a.role, 'member') $$;

ALTER TABLE memoranda.records ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoranda.embeddings ENABLE ROW LEVEL SECURITY;
CREATE POLICY readers ON memoranda.records FOR SELECT USING (
  team IN (SELECT a.team FROM memoranda.readable() a WHERE a.domain = '*')
  OR (team, domain) IN (SELECT a.team, a.domain FROM memoranda.readable() a)
);
CREATE POLICY readers ON memoranda.embeddings FOR SELECT
  USING (EXISTS (SELECT 1 FROM memoranda.records r WHERE r.team = embeddings.team AND r.id = embeddings.id));
GRANT USAGE ON SCHEMA memoranda TO PUBLIC;
GRANT SELECT ON memoranda.records, memoranda.embeddings TO PUBLIC;

-- Words in both languages, fused with meaning where a vector is given, by the weights of Memoranda's own search: 1 where
-- all the words are there, words as a share of the best (1.0), meaning from the pool's last, 0, to its best, 1 (0.5). At
-- most 5,000 records with all the words and as many with some of them are ranked, and the 100 nearest of what the caller may
-- read, however many of other teams are nearer. It runs with its owner's rights, since an
-- index of words cannot be used under row-level security, and returns what the caller may read.
CREATE FUNCTION memoranda.search(query text, near vector DEFAULT NULL, most integer DEFAULT 20)
  RETURNS TABLE(team text, id text, kind text, domain text, title text, body text, score double precision)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
  SET hnsw.iterative_scan = relaxed_order AS $$
  WITH readable AS MATERIALIZED (SELECT a.team, a.domain FROM memoranda.readable() a),
  asked AS MATERIALIZED (
    SELECT plainto_tsquery('english', query) AS english, plainto_tsquery('spanish', query) AS spanish,
      replace(plainto_tsquery('english', query)::text, '&', '|')::tsquery AS any_english,
      replace(plainto_tsquery('spanish', query)::text, '&', '|')::tsquery AS any_spanish
  ), found AS (
    (SELECT r.team, r.id, r.english, r.spanish, 1 AS whole FROM memoranda.records r, asked a
      WHERE r.status = 'active' AND (r.english @@ a.english OR r.spanish @@ a.spanish)
        AND EXISTS (SELECT 1 FROM readable y WHERE y.team = r.team AND y.domain IN ('*', r.domain)) LIMIT 5000)
    UNION ALL
    (SELECT r.team, r.id, r.english, r.spanish, 0 FROM memoranda.records r, asked a
      WHERE r.status = 'active' AND (r.english @@ a.any_english OR r.spanish @@ a.any_spanish)
        AND EXISTS (SELECT 1 FROM readable y WHERE y.team = r.team AND y.domain IN ('*', r.domain)) LIMIT 5000)
  ), words AS (
    SELECT f.team, f.id, max(f.whole) AS whole,
      max(greatest(ts_rank_cd(f.english, a.any_english), ts_rank_cd(f.spanish, a.any_spanish))) AS rank
    FROM found f, asked a GROUP BY f.team, f.id ORDER BY 3 DESC, 4 DESC LIMIT 100
  ), meaning AS (
    SELECT m.team, m.id, m.cosine
    FROM (SELECT y.team, array_agg(y.domain) AS domains FROM readable y WHERE near IS NOT NULL GROUP BY y.team) t
    CROSS JOIN LATERAL (
      SELECT e.team, e.id, 1 - (e.vector <=> near) AS cosine FROM memoranda.embeddings e
      WHERE e.team = t.team AND (  -- a subquery and not a join, which would compare every vector
        SELECT r.status = 'active' AND t.domains && ARRAY['*', r.domain]
        FROM memoranda.records r WHERE r.team = e.team AND r.id = e.id)
      ORDER BY e.vector <=> near LIMIT 100
    ) m ORDER BY m.cosine DESC LIMIT 100
  ), scaled AS (
    SELECT team, id, whole + rank / nullif(max(rank) OVER (), 0) AS by_words, NULL::float AS by_meaning FROM words
    UNION ALL
    SELECT team, id, NULL, (cosine - min(cosine) OVER ()) / nullif(max(cosine) OVER () - min(cosine) OVER (), 0)
    FROM meaning
  ), fused AS (
    SELECT team, id, coalesce(max(by_words), 0) + 0.5 * coalesce(max(by_meaning), 0) AS score
    FROM scaled GROUP BY team, id
  )
  SELECT r.team, r.id, r.kind, r.domain, r.title, r.body, f.score
  FROM fused f JOIN memoranda.records r USING (team, id)
  WHERE r.status = 'active' AND EXISTS (SELECT 1 FROM readable y WHERE y.team = r.team AND y.domain IN ('*', r.domain))
  ORDER BY f.score DESC, r.id LIMIT most
$$;
