import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome } from '../helpers/cli.js'

const home = cliHome()
afterAll(() => home.end())

const ok = async (argv: string[], options: Parameters<typeof home.ks>[1] = {}) => {
  const run = await home.ks(argv, options)
  expect(run, run.stderr).toMatchObject({ code: 0 })
  return run.stdout
}

beforeAll(async () => {
  home.file('notes/a.md', '# Tides\n\nThe moon pulls the sea.\n')
  await ok(['ingest', 'notes', '-s', 'sea', '--create', '--wait'])
})

describe('files of a workspace', () => {
  it('can be written from a flag, a file and stdin, and read like files of documents', async () => {
    await ok(['fs', 'write', '/workspaces/audit/a.md', '--text', 'from a flag'])
    const path = home.file('plan.md', 'from a file\n')
    await ok(['fs', 'write', '/workspaces/audit/b.md', '--from', path])
    await ok(['fs', 'write', '/workspaces/audit/deep/c.md'], { stdin: 'from stdin' })
    expect(await ok(['fs', 'ls', '/workspaces/audit'])).toBe(
      '/workspaces/audit/deep\n/workspaces/audit/a.md\n/workspaces/audit/b.md\n',
    )
    expect(await ok(['fs', 'cat', '/workspaces/audit/deep/c.md'])).toBe('from stdin')
    expect(await ok(['fs', 'grep', 'stdin', '/workspaces'])).toBe('/workspaces/audit/deep/c.md:1:6:from stdin\n')
    expect(JSON.parse(await ok(['fs', 'write', '/workspaces/audit/a.md', '--text', 'again', '--json']))).toMatchObject({
      version: 2,
      metadata: { sizeBytes: 5 },
    })
  })

  it('can be moved and removed', async () => {
    await ok(['fs', 'mv', '/workspaces/audit/deep', '/workspaces/audit/old'])
    expect(await home.ks(['fs', 'mv', '/workspaces/audit/a.md', '/workspaces/audit/b.md'])).toMatchObject({ code: 6 })
    await ok(['fs', 'rm', '/workspaces/audit/a.md'])
    expect(await home.ks(['fs', 'rm', '/workspaces/audit/a.md'])).toMatchObject({ code: 5 })
    expect(await home.ks(['fs', 'rm', '/workspaces/audit/old'])).toMatchObject({ code: 2 })
    expect(await home.ks(['fs', 'rm', '/workspaces/audit/old', '--recursive'])).toMatchObject({ code: 2 })
    await ok(['fs', 'rm', '/workspaces/audit/old', '--recursive', '--yes'])
    expect(await ok(['fs', 'find', '/workspaces', '--type', 'workspace'])).toBe(
      '/workspaces/audit\n/workspaces/audit/b.md\n',
    )
  })

  it('cannot be written outside /workspaces, above the size limit, or without content', async () => {
    const run = await home.ks(['fs', 'write', '/sources/uploads/a.md', '--text', 'x'])
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain('path must be in /workspaces')
    const big = await home.ks(['fs', 'write', '/workspaces/w/a'], { stdin: 'x'.repeat(1024 * 1024 + 1) })
    expect(big).toMatchObject({ code: 7 })
    expect(await home.ks(['fs', 'write', '/workspaces/w/a', '--from', '/none'])).toMatchObject({ code: 2 })
    expect(await home.ks(['fs', 'write', '/workspaces/w/a'])).toMatchObject({ code: 2 })
    await ok(['fs', 'write', '/workspaces/w/a', '--from', '-'])
  })
})

describe('snapshots', () => {
  it('can be created, listed, shown, read, replayed and deleted', async () => {
    await ok(['query', 'what pulls the sea?'])
    const api = async (...argv: string[]) => JSON.parse(await ok(['api', ...argv]))
    const made = await api('createWorkspaceSnapshot', '-f', 'workspace=audit', '-f', 'name=first')
    expect(made).toMatchObject({ workspace: 'audit', name: 'first', fileCount: 1, queryCount: 1 })
    const snapshot = ['-f', `snapshotId=${made.id}`]
    expect(await api('listWorkspaceSnapshots', '--paginate')).toEqual(made)
    expect(await ok(['api', 'listWorkspaceSnapshots', '-f', 'workspace=other', '--paginate'])).toBe('')
    expect(await api('getWorkspaceSnapshot', ...snapshot)).toMatchObject({
      files: [{ path: 'b.md' }],
      queries: [{ query: 'what pulls the sea?' }],
    })
    expect(await api('readWorkspaceSnapshotFile', ...snapshot, '-f', 'path=b.md')).toMatchObject({
      content: 'from a file\n',
    })
    home.file('notes/b.md', '# Moon\n\nThe moon pulls the sea twice a day.\n')
    await ok(['ingest', 'notes', '--wait'])
    expect(await api('replayWorkspaceSnapshot', ...snapshot, '--paginate')).toMatchObject({ summary: { added: 1 } })
    await ok(['api', 'deleteWorkspaceSnapshot', ...snapshot])
    expect(await home.ks(['api', 'getWorkspaceSnapshot', ...snapshot])).toMatchObject({ code: 5 })
    expect(await home.ks(['api', 'createWorkspaceSnapshot', '-f', 'workspace=none'])).toMatchObject({ code: 5 })
  })
})
