import { expect, test } from 'vitest'
import { filesBelow, readFile } from './tree.js'

/** Files of the engine that read the system clock, with the reason. All others get the time from their caller. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'src/engine/engine.ts': 'the clock of the engine, unless the caller passes one',
  'src/engine/ingest/sources/connectors/notion.ts': 'compared with a time that a server sent',
  'src/engine/library/local-files/file-state.ts': 'compared with the time of a file',
  'src/engine/models/egress-fetch.ts': 'compared with a time that a server sent',
  'src/engine/readers/document-dates.ts': 'runs in the process that reads files',
  'src/engine/store/object-files.ts': 'compared with the time of a file',
  'src/engine/store/object-s3.ts': 'compared with a time that a server sent',
}

const READS_CLOCK = /\bDate\.now\b|\bnew Date(?:\(\)|(?!\w|\())/

test('the check of clocks recognizes a reading of the system clock', () => {
  expect(['Date.now()', 'now = Date.now', 'new Date()', 'new Date'].every((text) => READS_CLOCK.test(text))).toBe(true)
  expect(['new Date(now)', 'performance.now()', 'context.now()'].some((text) => READS_CLOCK.test(text))).toBe(false)
})

test('the engine reads the system clock only in the files that are listed with a reason', () => {
  const found = filesBelow('src/engine').filter((path) => path.endsWith('.ts') && READS_CLOCK.test(readFile(path)))
  expect(found.sort()).toEqual(Object.keys(EXCEPTIONS))
})
