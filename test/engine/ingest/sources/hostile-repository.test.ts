import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { removeFolder } from '../../../../bench/lib/removed-folder.js'
import { ADA, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { findMissingGit, type GitServer, startGit } from '../../../helpers/places/git.js'
import { listOffered } from '../../../helpers/places/place.js'

const missing = findMissingGit()
if (missing !== undefined) process.stdout.write(`SKIPPED A31: ${missing}\n`)

const CANARY = 'outside-canary-7c1f'

let home: TestEngine
let place: GitServer
let spaceId = ''
/** Where a command would write if it ran. */
let markers = ''
const touch = (name: string) => `touch ${join(markers, name)}`

beforeAll(async () => {
  if (missing !== undefined) return
  markers = mkdtempSync(join(tmpdir(), 'ks-markers-'))
  home = await startEngine({ sources: { egressAllow: ['127.0.0.2'] } })
  spaceId = (await home.engine.spaces.create(ADA, { name: 'R', slug: 'r' })).id
  place = await startGit()
  fillRepository()
  trapPrograms()
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await home?.end()
  await place?.end()
  if (markers !== '') removeFolder(markers)
})

/** A repository with everything that makes `git` run a command or leave its folder in a clone with all features on. */
function fillRepository(): void {
  const { folder, git, commit } = place
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  mkdirSync(join(folder, 'notes'))
  write('notes/plain.md', '# Plain\n\nA lighthouse stands here.\n')
  write('notes/filtered.md', '# Filtered\n\nversion https://git-lfs.github.com/spec/v1\n')
  write(`notes/$(touch spaced)\`touch ticked\`.md`, '# Named\n\nA name that a shell would run.\n')
  write('notes/--upload-pack=touch.md', '# Option\n\nA name that is an option.\n')
  write('.gitattributes', '*.md filter=evil diff=evil merge=evil\nfiltered.md filter=lfs\n')
  write(
    '.gitmodules',
    `[submodule "sub"]\n\tpath = sub\n\turl = ext::sh -c "${touch('submodule')}"\n\tupdate = !${touch('update')}\n`,
  )
  write('.lfsconfig', `[lfs]\n\turl = ext::sh -c "${touch('lfs')}"\n`)
  const outside = join(markers, 'outside.md')
  writeFileSync(outside, `# Outside\n\n${CANARY}\n`)
  symlinkSync(outside, join(folder, 'notes', 'link.md'))
  symlinkSync(markers, join(folder, 'linked'))
  symlinkSync('.git', join(folder, 'dotgit'))
  commit()
  git('update-index', '--add', '--cacheinfo', `160000,${git('rev-parse', 'HEAD').trim()},sub`)
  git('commit', '-q', '-m', 'submodule')
  // Hooks of the served repository belong to it: a reader that ran them would have copied them.
  for (const hook of ['post-checkout', 'post-merge', 'post-index-change', 'fsmonitor-watchman'])
    writeFileSync(join(folder, '.git', 'hooks', hook), `#!/bin/sh\n${touch(hook)}\n`, { mode: 0o755 })
}

/** The settings of a user with all features on. */
function trapPrograms(): void {
  const config = join(markers, 'gitconfig')
  const section = (name: string, entries: string[]) => `[${name}]\n${entries.map((one) => `\t${one}\n`).join('')}`
  const traps = [
    section('core', [
      `fsmonitor = ${touch('fsmonitor')}`,
      `sshCommand = ${touch('ssh')}`,
      `hooksPath = ${markers}/hooks`,
      `askPass = ${join(markers, 'askpass')}`,
      `pager = ${touch('pager')}`,
    ]),
    section('filter "evil"', [`smudge = ${touch('smudge')}`, `clean = ${touch('clean')}`, 'required = true']),
    section('filter "lfs"', [`smudge = ${touch('lfs-smudge')}`, `process = ${touch('lfs-process')}`]),
    section('credential', [`helper = "!${touch('credential')}"`]),
    section('protocol "ext"', ['allow = always']),
    section('submodule', ['recurse = true']),
  ]
  writeFileSync(config, traps.join(''))
  const askpass = join(markers, 'askpass')
  writeFileSync(askpass, `#!/bin/sh\n${touch('asked')}\n`)
  chmodSync(askpass, 0o755)
  vi.stubEnv('GIT_CONFIG_GLOBAL', config)
  vi.stubEnv('GIT_ASKPASS', askpass)
  vi.stubEnv('GIT_SSH_COMMAND', touch('ssh-env'))
}

const create = (uri: string, metadata: Record<string, unknown>) =>
  home.engine.sources.create(ADA, spaceId, { name: 'git', type: 'connector', uri, permissionScope: [], metadata })

const LAID_OUT = ['askpass', 'gitconfig', 'outside.md']

describe.skipIf(missing !== undefined)('A31: a repository that tries to make git run commands', () => {
  test('serves text only: no command runs, no link is followed, no submodule is fetched', async () => {
    const { id } = await create(place.uri, place.metadata)
    const items = await listOffered(home.engine.sources, ADA, { spaceId, sourceId: id, type: 'connector' })
    const names = items.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining([expect.stringContaining('plain')]))
    expect(names.filter((name) => /link|outside|sub$|hooks/.test(name))).toEqual([])
    const pages = items.map(({ id: pageId, type, workspaceId = '', lastEditedTime }) => {
      return { pageId, type, workspaceId, lastEditedTime }
    })
    await home.engine.sources.importPages(ADA, spaceId, id, { pages })
    await expect
      .poll(async () => {
        const { items: documents } = await home.engine.documents.list(ADA, spaceId, { limit: 100 })
        return documents.map(({ parserStatus }) => parserStatus)
      })
      .toEqual(pages.map(() => 'parsed'))
    const { matches } = await home.engine.fs.grep(ADA, spaceId, {
      path: '/sources',
      q: CANARY,
      limit: 10,
      timeoutMs: 5000,
    })
    expect(matches).toEqual([])
    expect(readdirSync(markers).sort()).toEqual(LAID_OUT)
    expect([...new Set(place.requests.map((hit) => hit.split('?')[0]))].sort()).toEqual([
      'GET /notes.git/info/refs',
      'POST /notes.git/git-upload-pack',
    ])
  })

  test('cannot inject commands by its address or branch', async () => {
    const odd = [
      `ext::sh -c ${touch('ext')}`,
      `ssh://-oProxyCommand=${touch('proxy')}/x`,
      `--upload-pack=${touch('pack')}`,
      `file://${place.folder}`,
      place.folder,
      `git@127.0.0.2:${touch('scp')}`,
      'git://127.0.0.2/notes.git',
    ]
    for (const uri of odd)
      await expect(create(uri, place.metadata), uri).rejects.toMatchObject({ code: 'invalid-request' })
    for (const branch of [`--upload-pack=${touch('branch')}`, `main;${touch('shell')}`, '../../../etc/passwd', '-c']) {
      const reading = create(place.uri, { ...place.metadata, parameters: { branch } }).then(({ id }) =>
        listOffered(home.engine.sources, ADA, { spaceId, sourceId: id, type: 'connector' }),
      )
      await expect(reading, branch).rejects.toMatchObject({
        code: expect.stringMatching(/invalid-request|connector-failed/),
      })
    }
    expect(readdirSync(markers).sort()).toEqual(LAID_OUT)
    expect(existsSync(join(markers, 'hooks'))).toBe(false)
  })
})
