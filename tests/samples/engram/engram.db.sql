CREATE TABLE sessions(id TEXT, project TEXT, directory TEXT, started_at TEXT, ended_at TEXT, summary TEXT);
INSERT INTO sessions VALUES('sess-faro-1', 'faro', '/home/ines/src/faro', '2026-08-03 09:15:00', '2026-08-03 09:15:00', 'Ordenamos los datos de Faro.');
INSERT INTO sessions VALUES('manual-save', 'faro', '', '2026-08-03 09:15:00', NULL, NULL);
INSERT INTO sessions VALUES('sess-faro-2', 'faro', '/home/ines/src/faro', '2026-08-12 10:00:00', NULL, NULL);
CREATE TABLE observations(id INTEGER PRIMARY KEY, session_id TEXT, type TEXT, title TEXT, content TEXT, tool_name TEXT, project TEXT, scope TEXT, topic_key TEXT, revision_count INTEGER, duplicate_count INTEGER, created_at TEXT, updated_at TEXT, deleted_at TEXT);
INSERT INTO observations VALUES(1, 'sess-faro-1', 'discovery', 'Tide tables are in centimetres', 'Tide heights in Faro are stored as whole centimetres above chart datum, never as metres.', 'mem_save', 'faro', 'project', NULL, 1, 2, '2026-08-03 09:15:00', '2026-08-03 09:15:00', NULL);
INSERT INTO observations VALUES(2, 'sess-faro-1', 'preference', 'Inés prefiere commits cortos', 'Inés prefiere commits pequeños, con el asunto en español y sin punto final.', 'mem_save', 'faro', 'personal', NULL, 1, 1, '2026-08-03 09:15:00', '2026-08-03 09:15:00', NULL);
INSERT INTO observations VALUES(3, 'sess-faro-1', 'decision', 'Use DuckDB for the harmonic constants', '**What**: We chose DuckDB instead of Parquet files for the harmonic constants, because queries by port dropped from 900 ms to 40 ms.
**Why**: see the title
**Where**: docs/decision.md', 'mem_save', 'faro', 'project', 'decision/use-duckdb-for-the-harmonic-constants', 1, 1, '2026-08-03 09:15:00', '2026-08-03 09:15:00', NULL);
INSERT INTO observations VALUES(4, 'sess-faro-1', 'discovery', 'El puerto de pruebas es Luarca', 'El puerto que se usa en todas las pruebas es Luarca (código 1042); nunca Gijón, que tiene datos incompletos.', 'mem_save', 'faro', 'project', NULL, 1, 1, '2026-08-03 09:15:00', '2026-08-03 09:15:00', NULL);
INSERT INTO observations VALUES(5, 'sess-faro-1', 'manual', 'Inés is allergic to shellfish', 'Inés is allergic to shellfish; mention it when planning team lunches.', 'mem_save', 'faro', 'personal', NULL, 1, 1, '2026-08-03 09:15:00', '2026-08-03 09:15:00', NULL);
INSERT INTO observations VALUES(6, 'sess-faro-1', 'config', 'Release train', 'Faro is released every Tuesday from branch main; the smoke test takes 4 minutes.', 'mem_save', 'faro', 'project', 'config/release-train', 2, 1, '2026-08-03 09:15:00', '2026-08-12 10:00:00', NULL);
INSERT INTO observations VALUES(7, 'sess-faro-1', 'discovery', 'Deploy host', 'The staging host is called percebe and runs Debian 12; SSH goes through port 2202.', 'mem_save', 'faro', 'project', NULL, 1, 1, '2026-08-03 09:15:00', '2026-08-03 09:15:00', NULL);
INSERT INTO observations VALUES(8, 'sess-faro-1', 'discovery', 'Odd characters', 'The CSV of the port authority mixes «comillas», em—dashes, a tab	here, 日本語, emoji 🦀 and the literal strings [x](y), `--- `, $HOME and <b>bold</b>.', 'mem_save', 'faro', 'project', NULL, 1, 1, '2026-08-03 09:15:00', '2026-08-03 09:15:00', NULL);
INSERT INTO observations VALUES(9, 'sess-faro-1', 'bugfix', 'Old staging', 'The staging host is called mejillon.', 'mem_save', 'faro', 'project', NULL, 1, 1, '2026-08-03 09:15:00', '2026-08-03 09:15:00', '2026-08-03 09:15:00');
INSERT INTO observations VALUES(10, 'sess-faro-1', 'decision', 'No websockets', '**What**: Decidimos usar eventos SSE en vez de websockets para las alertas de temporal: un solo sentido basta.
**Why**: see the title
**Where**: docs/decision.md', 'mem_save', 'faro', 'project', 'decision/no-websockets', 1, 1, '2026-08-03 09:15:00', '2026-08-03 09:15:00', NULL);
INSERT INTO observations VALUES(11, 'sess-faro-1', 'discovery', 'Multi-line recipe', 'To rebuild the almanac:
1. run `make almanac`
2. check that out/2027.json has 706 rows
3. never edit the file by hand', 'mem_save', 'faro', 'project', NULL, 1, 1, '2026-08-03 09:15:00', '2026-08-03 09:15:00', NULL);
INSERT INTO observations VALUES(12, 'sess-faro-1', 'preference', 'Answers in Spanish, code in English', 'Answer Inés in Spanish, but write code, comments and commit bodies in English.', 'mem_save', 'faro', 'personal', NULL, 1, 1, '2026-08-03 09:15:00', '2026-08-03 09:15:00', NULL);
INSERT INTO observations VALUES(13, 'sess-faro-1', 'discovery', 'Backup bucket', 'Backups of the tide archive go to the bucket faro-mareas with access key AKIAQ7RM3XKD2WUZ5VTN, region eu-west-3.', 'mem_save', 'faro', 'project', NULL, 1, 1, '2026-08-03 09:15:00', '2026-08-03 09:15:00', NULL);
INSERT INTO observations VALUES(14, 'sess-faro-1', 'discovery', 'Leap seconds', 'The ephemeris code ignores leap seconds on purpose; the error stays under 2 cm until 2035.', 'mem_save', 'faro', 'project', NULL, 1, 1, '2026-08-03 09:15:00', '2026-08-03 09:15:00', NULL);
INSERT INTO observations VALUES(15, 'manual-save', 'manual', 'private part', 'The tunnel password is [REDACTED] and the port is 2202.', NULL, 'faro', 'project', NULL, 1, 1, '2026-08-03 09:15:00', '2026-08-03 09:15:00', NULL);
INSERT INTO observations VALUES(16, 'sess-faro-2', 'passive', 'The importer of Faro must skip empty lines at the end of the...', 'The importer of Faro must skip empty lines at the end of the file', 'subagent-stop', 'faro', 'project', NULL, 1, 1, '2026-08-12 10:00:00', '2026-08-12 10:00:00', NULL);
INSERT INTO observations VALUES(17, 'sess-faro-2', 'passive', 'Los ficheros del proveedor llegan en ISO-8859-1 los lunes', 'Los ficheros del proveedor llegan en ISO-8859-1 los lunes', 'subagent-stop', 'faro', 'project', NULL, 1, 1, '2026-08-12 10:00:00', '2026-08-12 10:00:00', NULL);
CREATE TABLE user_prompts(id INTEGER PRIMARY KEY, session_id TEXT, content TEXT, project TEXT, created_at TEXT);
INSERT INTO user_prompts VALUES(1, 'sess-faro-1', 'Tide tables are in centimetres: ¿y esto?', 'faro', '2026-08-03 09:15:00');
INSERT INTO user_prompts VALUES(2, 'sess-faro-1', 'Inés is allergic to shellfish: ¿y esto?', 'faro', '2026-08-03 09:15:00');
INSERT INTO user_prompts VALUES(3, 'sess-faro-1', 'Old staging: ¿y esto?', 'faro', '2026-08-03 09:15:00');
INSERT INTO user_prompts VALUES(4, 'sess-faro-1', 'Backup bucket: ¿y esto?', 'faro', '2026-08-03 09:15:00');
