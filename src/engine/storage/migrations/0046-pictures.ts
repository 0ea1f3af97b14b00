/** What passages are made of beside text, and what vision models said of pictures. */
export const PICTURES_SCHEMA = {
  sqlite: text('INTEGER', 'STRICT, WITHOUT ROWID'),
  postgres: `${text('bigint', '')}
SELECT isolate('picture_descriptions');
SELECT isolate('picture_readings');
SELECT isolate('picture_waits');`,
}

function text(integer: string, options: string): string {
  return `
-- JSON: the tables, pictures and code blocks that a passage is made of
ALTER TABLE nodes ADD COLUMN shows TEXT;

-- what a model said of a picture of a document; said is NULL where it was refused
CREATE TABLE picture_descriptions (
  doc_key ${integer} NOT NULL,
  -- reference of the model, and the number of what it was asked
  model TEXT NOT NULL,
  -- hash of its bytes, or of its place in the file
  picture TEXT NOT NULL,
  space_key ${integer} NOT NULL,
  said TEXT,
  error TEXT,
  created_at ${integer} NOT NULL,
  PRIMARY KEY (doc_key, model, picture)
) ${options};
CREATE INDEX picture_descriptions_space ON picture_descriptions (space_key, model, picture);

-- versions whose pictures were all asked for, the newest of each document
CREATE TABLE picture_readings (
  doc_key ${integer} NOT NULL PRIMARY KEY,
  space_key ${integer} NOT NULL,
  version_key ${integer} NOT NULL,
  model TEXT NOT NULL,
  -- how often the document was read again for what the model said
  rounds ${integer} NOT NULL
) ${options};
CREATE INDEX picture_readings_version ON picture_readings (version_key, model);

-- spaces whose vision model does not answer
CREATE TABLE picture_waits (
  space_key ${integer} NOT NULL PRIMARY KEY,
  attempts ${integer} NOT NULL,
  since ${integer} NOT NULL,
  next_at ${integer} NOT NULL,
  error_class TEXT NOT NULL,
  error TEXT NOT NULL,
  permanent ${integer} NOT NULL
) ${options};
`
}
