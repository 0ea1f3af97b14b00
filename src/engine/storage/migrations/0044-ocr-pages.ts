/**
 * Pages that were read in pictures, so that reading a long document goes on where it was, and reading it again is quick.
 * They belong to the bytes of a document, which never change, and to what read them.
 */
export const OCR_PAGES_SCHEMA = {
  sqlite: text('INTEGER', 'STRICT, WITHOUT ROWID'),
  postgres: `${text('bigint', '')}
SELECT isolate('ocr_pages');`,
}

function text(integer: string, options: string): string {
  return `
CREATE TABLE ocr_pages (
  doc_key ${integer} NOT NULL,
  page ${integer} NOT NULL,
  space_key ${integer} NOT NULL,
  -- the engine and its languages: what another one read is read anew
  engine TEXT NOT NULL,
  -- JSON of a RecognisedPage
  text TEXT NOT NULL,
  PRIMARY KEY (doc_key, page),
  FOREIGN KEY (doc_key) REFERENCES documents (key) ON DELETE CASCADE
) ${options};
CREATE INDEX ocr_pages_space ON ocr_pages (space_key);
`
}
