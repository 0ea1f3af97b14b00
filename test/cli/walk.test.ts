import fs, { linkSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { execaSync } from 'execa'
import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { gatherFiles } from '../../src/cli/ingest/gather.js'
import { type WalkOptions, walk, walkPaths } from '../../src/cli/ingest/walk.js'
import { findProtectedFiles } from '../../src/local/protected-files.js'
import { NOTHING_PROTECTED } from '../helpers/own-files.js'
import { refuseToOpen } from '../helpers/refused-folder.js'

const base = mkdtempSync(join(tmpdir(), 'ks-walk-'))
let root = ''
let number = 0

beforeEach(() => {
  root = join(base, `r${number++}`)
  mkdirSync(root)
})
afterAll(() => removeFolder(base))

const defaults: WalkOptions = {
  ignore: [],
  glob: [],
  ignoreFiles: true,
  hidden: false,
  protectedFiles: NOTHING_PROTECTED,
}

function put(path: string, content = 'x'): string {
  const full = join(root, path)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, content)
  return full
}

/** Names relative to the root folder. */
function names(options: Partial<WalkOptions> = {}): string[] {
  const found = walk([root], { ...defaults, ...options })
  return found.files.map((file) => file.filename.slice(basename(root).length + 1))
}

describe('protected files of the program', () => {
  const ownIn = (folder: string) =>
    findProtectedFiles({ data: folder, config: folder, cache: folder, state: folder }, [])

  it('stay out of a walk over a parent folder, also through symbolic and hard links', () => {
    put('a.md')
    put('data/signing.key')
    symlinkSync(join(root, 'data', 'signing.key'), join(root, 'link.md'))
    linkSync(join(root, 'data', 'signing.key'), join(root, 'hard.md'))
    const found = walk([root], { ...defaults, protectedFiles: ownIn(join(root, 'data')) })
    expect(found.files.map(({ relativePath }) => relativePath)).toEqual(['a.md'])
    expect(found.skipped.map(({ reason }) => reason)).toEqual(Array(3).fill('belongs to this program'))
  })

  it.each([
    ['the protected file', 'data/signing.key'],
    ['a file below the directory', 'data/db/main.sqlite'],
    ['the protected directory', 'data'],
    ['a link to the file', 'key.md'],
    ['a link to the directory', 'elsewhere'],
    ['a hard link to the file', 'hard.md'],
  ])('cause a refusal if %s is named on the command line', (_what, path) => {
    put('data/db/main.sqlite')
    const key = put('data/signing.key')
    symlinkSync(key, join(root, 'key.md'))
    symlinkSync(join(root, 'data'), join(root, 'elsewhere'))
    linkSync(key, join(root, 'hard.md'))
    const named = join(root, path)
    expect(() => walk([named], { ...defaults, protectedFiles: ownIn(join(root, 'data')) })).toThrow(
      `${JSON.stringify(named)} is protected`,
    )
  })

  it('cause a refusal if a watched folder was replaced by a link to their directory', () => {
    put('data/signing.key')
    symlinkSync(join(root, 'data'), join(root, 'notes'))
    const options = { ...defaults, protectedFiles: ownIn(join(root, 'data')) }
    const events = { onFolder: () => undefined, onUnread: () => undefined }
    expect(() => walkPaths(join(root, 'notes'), [''], options, events)).toThrow('is protected')
  })

  it('stay out of a partial walk, even over paths that name them', () => {
    put('data/sub/a.md')
    const options = { ...defaults, protectedFiles: ownIn(join(root, 'data')) }
    const events = { onFolder: () => undefined, onUnread: () => undefined }
    expect(walkPaths(root, ['data/sub/a.md', 'data'], options, events).files).toEqual([])
  })
})

describe('a walk over a folder', () => {
  it('skips a link to a hidden file as it skips the file', () => {
    put('.env')
    put('.git/config')
    symlinkSync(join(root, '.env'), join(root, 'readme.md'))
    symlinkSync(join(root, '.git', 'config'), join(root, 'git.md'))
    expect(names()).toEqual([])
    expect(names({ hidden: true })).toEqual(['.env', 'readme.md'])
  })

  it('names files by their path below the folder, in a stable order', () => {
    for (const path of ['b.md', 'a/z.md', 'a.md', 'a/b/c.md']) put(path)
    expect(walk([root], defaults).files.map((file) => file.filename)).toEqual(
      ['a/b/c.md', 'a/z.md', 'a.md', 'b.md'].map((path) => `${basename(root)}/${path}`),
    )
  })

  it('skips hidden files, and always .git', () => {
    for (const path of ['.env', '.config/x', '.git/HEAD', 'a.md']) put(path)
    expect(names()).toEqual(['a.md'])
    expect(names({ hidden: true })).toEqual(['.config/x', '.env', 'a.md'])
  })

  it('skips temporary files of editors and downloads', () => {
    for (const path of ['a.md~', '~$a.docx', 'x.pdf.part', '.a.md.swp', 'Thumbs.db', 'a.md']) put(path)
    expect(names({ hidden: true })).toEqual(['a.md'])
  })

  it('follows ignore files unless disabled, .ksignore after .gitignore', () => {
    put('.gitignore', '*.log\nbuild/\n')
    put('.ksignore', '!keep.log\ndrafts\n')
    for (const path of ['a.log', 'keep.log', 'build/x.md', 'drafts/y.md', 'sub/b.log', 'sub/c.md']) put(path)
    expect(names()).toEqual(['keep.log', 'sub/c.md'])
    expect(names({ ignoreFiles: false })).toEqual([
      'a.log',
      'build/x.md',
      'drafts/y.md',
      'keep.log',
      'sub/b.log',
      'sub/c.md',
    ])
  })

  it('excludes files by patterns of the command line, even if an ignore file includes them', () => {
    put('.gitignore', '!secret.md\n')
    put('sub/.gitignore', '!secret.md\n')
    for (const path of ['secret.md', 'sub/secret.md', 'a.md']) put(path)
    expect(names({ ignore: ['secret.md'] })).toEqual(['a.md'])
  })

  it('follows the ignore rules of the surrounding repository', () => {
    put('.git/HEAD', 'ref: refs/heads/main')
    put('.gitignore', 'docs/build\n*.tmp\n')
    for (const path of ['docs/build/x.md', 'docs/a.md', 'docs/b.tmp']) put(path)
    const found = walk([join(root, 'docs')], defaults)
    expect(found.files.map((file) => file.filename)).toEqual(['docs/a.md'])
  })

  it('selects only files that match a pattern', () => {
    for (const path of ['a.md', 'b.txt', 'sub/c.md', 'sub/d.pdf']) put(path)
    expect(names({ glob: ['*.md'] })).toEqual(['a.md', 'sub/c.md'])
    expect(names({ glob: ['sub/*.pdf', 'b.txt'] })).toEqual(['b.txt', 'sub/d.pdf'])
  })

  it('A27: skips and reports links that leave the folder, and never runs in circles', () => {
    put('a.md')
    put('sub/b.md')
    writeFileSync(join(base, 'outside.md'), 'secret')
    symlinkSync(join(base, 'outside.md'), join(root, 'leak.md'))
    symlinkSync('/etc', join(root, 'etc'))
    symlinkSync('..', join(root, 'sub/up'))
    symlinkSync('a.md', join(root, 'again.md'))
    symlinkSync('nowhere', join(root, 'broken.md'))
    expect(names()).toEqual(['a.md', 'again.md', 'sub/b.md'])
    expect(walk([root], defaults).skipped.map(({ filename, reason }) => [basename(filename), reason])).toEqual([
      ['broken.md', 'a broken symbolic link'],
      ['etc', 'a symbolic link to outside of the folder'],
      ['leak.md', 'a symbolic link to outside of the folder'],
    ])
  })

  it('reports an unreadable folder and continues', () => {
    put('locked/x.md')
    put('z.md')
    const refusal = refuseToOpen(join(root, 'locked'))
    const found = walk([root], defaults)
    refusal.end()
    expect(found.failed).toMatchObject([{ filename: `${basename(root)}/locked`, reason: 'permission denied' }])
    expect(found.files).toHaveLength(1)
  })

  it('treats names with composed and decomposed letters as different files', () => {
    put('u\u0308.md')
    put('\u00fc.md')
    expect(names().sort()).toEqual(['u\u0308.md', '\u00fc.md'])
  })

  it('excludes the same files as git for the same .gitignore files', () => {
    const pattern = fc.constantFrom(
      '*.md',
      'a',
      'a/',
      '/a',
      'b/**',
      '**/c',
      '!a/keep.md',
      '!*.md',
      'a/*.txt',
      '?.md',
      '[ab].txt',
      '# x',
      '\\#x',
      'c/ ',
    )
    const path = fc.tuple(
      fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 }),
      fc.constantFrom('a.md', 'keep.md', 'b.txt', 'c', '#x'),
    )
    fc.assert(
      fc.property(
        fc.array(pattern, { maxLength: 5 }),
        fc.array(pattern, { maxLength: 3 }),
        fc.array(path, { minLength: 1, maxLength: 8 }),
        (rules, inner, paths) => {
          removeFolder(root)
          mkdirSync(root)
          for (const [folders, name] of paths) {
            try {
              put([...folders, name].join('/'))
            } catch {
              // A file and a folder of the same name: the first one remains.
            }
          }
          put('.gitignore', `${rules.join('\n')}\n`)
          try {
            put('a/.gitignore', `${inner.join('\n')}\n`)
          } catch {
            // `a` is a file.
          }
          execaSync('git', ['init', '-q'], { cwd: root, reject: false })
          const git = execaSync('git', ['ls-files', '-z', '--others', '--exclude-standard'], {
            cwd: root,
            reject: false,
          })
          const theirs = git.stdout.split('\0').filter((name) => name !== '' && !name.endsWith('.gitignore'))
          expect(names().sort()).toEqual(theirs.sort())
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe('paths on the command line', () => {
  it('keep only the file name for a single file, and their folders for several', () => {
    const one = put('docs/a.md')
    expect(walk([one], defaults).files[0]?.filename).toBe('a.md')
    put('b/a.md')
    const before = process.cwd()
    process.chdir(root)
    try {
      expect(walk(['docs/a.md', './b/a.md'], defaults).files.map((file) => file.filename)).toEqual([
        'docs/a.md',
        'b/a.md',
      ])
    } finally {
      process.chdir(before)
    }
  })

  it('include hidden and ignored files', () => {
    put('.gitignore', '*\n')
    expect(walk([put('.env.md')], defaults).files).toHaveLength(1)
  })

  it('cause an error if they do not exist, or if two would get the same document name', () => {
    expect(() => walk([join(root, 'nope')], defaults)).toThrow('does not exist')
    const paths = [put('a/x.md'), put('b/x.md')]
    expect(() => walk(paths, defaults)).toThrow('would both be named "x.md"')
  })

  it('can be patterns that the shell did not expand', async () => {
    put('one.md')
    put('two.md')
    put('three.txt')
    const options = { ...defaults, listOnStdin: false, nul: false, name: undefined }
    const found = await gatherFiles([join(root, '*.md')], options)
    expect(found.files.map((file) => file.filename)).toEqual(['one.md', 'two.md'])
    await expect(gatherFiles([join(root, '*.pdf')], options)).rejects.toThrow('matches no file')
  })
})

describe('a walk over two thousand files', () => {
  it('reads each folder once, without a system call for each file', () => {
    for (let folder = 0; folder < 100; folder++) {
      mkdirSync(join(root, `f${folder}`))
      for (let file = 0; file < 20; file++) writeFileSync(join(root, `f${folder}`, `${file}.md`), '')
    }
    put('.gitignore', '*.log\nnode_modules/\n/dist\n')
    const reads = vi.spyOn(fs, 'readdirSync')
    const calls = [...(['lstatSync', 'statSync', 'realpathSync', 'openSync'] as const)].map((name) =>
      vi.spyOn(fs, name),
    )
    syncBuiltinESMExports()
    const { files } = walk([root], defaults)
    const counts = [reads, ...calls].map(({ mock }) => mock.calls.length)
    vi.restoreAllMocks()
    syncBuiltinESMExports()
    expect(files).toHaveLength(2000)
    expect(counts[0]).toBe(101)
    // The folders themselves, with their ignore files.
    expect(counts.reduce((sum, count) => sum + count)).toBeLessThan(101 * 2 + 20)
  })
})

describe('file names in a walk', () => {
  it('with unusual characters stay unchanged and distinct', () => {
    const unit = fc.constantFrom(
      'a',
      'b',
      'e',
      '\u0301',
      '\u00e9',
      ' ',
      '.',
      '\\',
      '\t',
      '\n',
      '\u202e',
      '\ufffd',
      '\u{1f600}',
      '"',
    )
    const part = fc.string({ unit, minLength: 1, maxLength: 4 }).filter((text) => text !== '.' && text !== '..')
    let run = 0
    fc.assert(
      fc.property(fc.uniqueArray(part, { minLength: 1, maxLength: 12 }), (parts) => {
        const folder = join(root, `run${run++}`)
        mkdirSync(folder)
        for (const name of parts) writeFileSync(join(folder, name), 'x')
        const { files, failed } = walk([folder], { ...defaults, hidden: true, ignoreFiles: false })
        expect(files.map(({ filename }) => filename).sort()).toEqual(
          parts.map((name) => `${basename(folder)}/${name}`).sort(),
        )
        expect(failed).toEqual([])
      }),
      { numRuns: 100 },
    )
  })
})
