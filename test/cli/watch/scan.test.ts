import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { type WalkOptions, walk } from '../../../src/cli/ingest/walk.js'
import { toWalkOptions } from '../../../src/cli/watch/rules.js'
import { FolderMissingError, getFolderIdentity, scanFolder } from '../../../src/cli/watch/scan.js'
import { NOTHING_PROTECTED } from '../../helpers/own-files.js'
import { refuseToOpen } from '../../helpers/refused-folder.js'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ks-look-'))
})
afterEach(() => removeFolder(folder))

const RULES: WalkOptions = { glob: [], ignore: [], hidden: false, ignoreFiles: true, protectedFiles: NOTHING_PROTECTED }

function write(path: string, text = 'x'): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

function looked(paths: string[], walkOptions = RULES): string[] {
  return [...scanFolder(paths, { folder, walk: walkOptions, onFolder: () => undefined }).files.keys()].sort()
}

test('a watch scan of single paths finds the same files as a complete walk', () => {
  const part = fc.constantFrom('a', 'b', 'drafts', '.hidden', 'x.md', 'y.log')
  const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
  const rule = fc.constantFrom('drafts', 'drafts/', '*.log', '!y.log', '/a', 'a/b', 'b/*', '!x.md')
  fc.assert(
    fc.property(
      fc.array(path, { maxLength: 12 }),
      fc.array(rule, { maxLength: 3 }),
      fc.array(rule, { maxLength: 2 }),
      (paths, top, inner) => {
        removeFolder(folder)
        mkdirSync(folder)
        for (const each of [...paths.map((one) => `${one}/f.md`), ...paths.map((one) => `${one}.md`)]) write(each)
        write('.ksignore', top.join('\n'))
        write('a/.ksignore', inner.join('\n'))
        const all = walk([folder], RULES)
          .files.map(({ relativePath = '' }) => relativePath)
          .sort()
        expect(looked([''])).toEqual(all)
        const candidates = paths.flatMap((one) => [`${one}/f.md`, `${one}.md`])
        expect(looked(candidates)).toEqual(all.filter((one) => candidates.includes(one)))
      },
    ),
    { numRuns: 60 },
  )
})

test('a watch scan reports an unreadable folder as not read instead of missing', () => {
  write('closed/a.md')
  const refusal = refuseToOpen(join(folder, 'closed'))
  const { files, unread } = scanFolder([''], { folder, walk: RULES, onFolder: () => undefined })
  refusal.end()
  expect(files.size).toBe(0)
  expect(unread).toEqual(['closed'])
})

test('a watch scan treats names that differ by a trailing space as two files', () => {
  write('note.md')
  write('note.md ')
  const { files, skipped } = scanFolder([''], { folder, walk: RULES, onFolder: () => {} })
  expect([[...files.keys()].sort(), skipped]).toEqual([['note.md', 'note.md '], []])
})

test.skipIf(process.platform !== 'linux')('a watch scan skips and reports a name that is not UTF-8', () => {
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xe9])]), 'x')
  write('note.md')
  const { files, skipped } = scanFolder([''], { folder, walk: RULES, onFolder: () => {} })
  expect([...files.keys()]).toEqual(['note.md'])
  expect(skipped).toMatchObject([{ filename: expect.stringMatching(/\/\\xE9$/), reason: 'its name is not UTF-8' }])
})

test('a watch scan fails for a missing folder instead of finding it empty', () => {
  rmSync(folder, { recursive: true })
  expect(() => getFolderIdentity(folder)).toThrow(FolderMissingError)
  writeFileSync(folder, 'a file')
  expect(() => getFolderIdentity(folder)).toThrow('is no longer a folder')
})

test('a watch scan excludes the directories of the program, by whatever path the watched folder is given', () => {
  write('data [1]/db/main.md')
  write('notes/a.md')
  symlinkSync(folder, `${folder}.link`)
  const dirs = { data: join(folder, 'data [1]'), state: '/none', cache: '/none', config: '/none' }
  expect(looked([''], toWalkOptions(`${folder}.link`, RULES, dirs))).toEqual(['notes/a.md'])
  rmSync(`${folder}.link`)
})
