import { expect, it } from 'vitest'
import {
  type GitObjects,
  listMarkdownPages,
  RepositoryTooLarge,
} from '../../../../src/engine/ingest/sources/connectors/git-tree.js'

type Tree = { [name: string]: string | Tree }

/** A repository of commits, the newest last; a text `@120000 target` sets the file mode. */
function repository(commits: Tree[], { fetched = commits.length, parents = true } = {}) {
  const trees = new Map<string, { mode: string; path: string; oid: string }[]>()
  const asked: string[] = []
  const store = (tree: Tree): string => {
    const entries = Object.entries(tree).map(([path, value]) => {
      if (typeof value !== 'string') return { mode: '040000', path, oid: store(value) }
      const [, mode = '100644', text = ''] = /^@(\d+) (.*)$/.exec(value) ?? [undefined, '100644', value]
      return { mode, path, oid: `blob ${text}` }
    })
    const oid = `tree ${JSON.stringify(entries)}`
    trees.set(oid, entries)
    return oid
  }
  const stored = commits.map((tree, place) => ({
    tree: store(tree),
    parent: place > 0 && parents ? [`c${place - 1}`, 'merged'] : [],
    time: 1000 * (place + 1),
  }))
  const objects: GitObjects = {
    tree: async (oid) => {
      asked.push(oid)
      return trees.get(oid) ?? []
    },
    commit: async (oid) => (Number(oid.slice(1)) < commits.length - fetched ? undefined : stored[Number(oid.slice(1))]),
  }
  const pages = async (folder = '') =>
    (await listMarkdownPages(objects, `c${commits.length - 1}`, folder)).map(
      ({ path, oid, lastEditedTime }) => `${path} ${oid.slice(5)} ${Date.parse(lastEditedTime) / 1000}`,
    )
  return { pages, asked }
}

it('pages of Git are the Markdown files of the newest commit, each with the time of its last change', async () => {
  const { pages } = repository([
    { 'a.md': '1', 'b.md': '1', docs: { 'c.markdown': '1' } },
    { 'a.md': '2', 'b.md': '1', docs: { 'c.markdown': '1' } },
    { 'a.md': '2', 'b.md': '1', docs: { 'c.markdown': '1', 'd.MD': 'x' }, 'notes.txt': '1' },
  ])
  expect(await pages()).toEqual(['a.md 2 2000', 'b.md 1 1000', 'docs/c.markdown 1 1000', 'docs/d.MD x 3000'])
})

it('files that a shallow Git history does not change get the time of its oldest commit', async () => {
  const commits: Tree[] = [{ 'a.md': '1' }, { 'a.md': '1', 'b.md': '1' }, { 'a.md': '1', 'b.md': '2' }]
  expect(await repository(commits, { fetched: 2 }).pages()).toEqual(['a.md 1 2000', 'b.md 2 3000'])
  expect(await repository(commits, { fetched: 0 }).pages()).toEqual([])
})

it('a folder of a Git repository is read recursively, without objects outside of the folder', async () => {
  const { pages, asked } = repository([
    { 'a.md': '1', docs: { 'b.md': '1', deep: { 'c.md': '1' } }, docs2: { 'd.md': '1' }, other: { 'e.md': '1' } },
  ])
  expect(await pages('docs/')).toEqual(['docs/b.md 1 1000', 'docs/deep/c.md 1 1000'])
  expect(asked.some((oid) => oid.includes('e.md') && !oid.includes('other'))).toBe(false)
  expect(await pages('docs/deep/')).toEqual(['docs/deep/c.md 1 1000'])
  expect(await pages('nowhere/')).toEqual([])
})

it('links, submodules and other file types of a Git repository are skipped; executable files are read', async () => {
  const { pages } = repository([
    {
      ...{ 'run.md': '@100755 x', 'group.md': '@100664 y', 'link.md': '@120000 /etc/passwd', 'module.md': '@160000 z' },
      ...{ 'a.md.bak': '1', md: '1' },
    },
  ])
  expect(await pages()).toEqual(['group.md y 1000', 'run.md x 1000'])
})

it('a file whose mode changed or that replaced a folder counts as changed by the Git commit', async () => {
  const { pages } = repository([
    { 'a.md': '1', 'b.md': { 'x.md': '1' } },
    { 'a.md': '@100755 1', 'b.md': '1' },
  ])
  expect(await pages()).toEqual(['a.md 1 2000', 'b.md 1 2000'])
})

it('a Git repository above the limit of 10,000 pages or 200,000 entries is rejected', async () => {
  const many = (count: number, name: (n: number) => string) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [name(n), '1']))
  expect(await repository([many(10_000, (n) => `${n}.md`)]).pages()).toHaveLength(10_000)
  await expect(repository([many(10_001, (n) => `${n}.md`)]).pages()).rejects.toThrow(RepositoryTooLarge)
  await expect(repository([many(200_001, (n) => `${n}.txt`)]).pages()).rejects.toThrow(RepositoryTooLarge)
})
