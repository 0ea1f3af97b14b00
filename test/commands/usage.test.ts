import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { cliHome } from '../helpers/cli.js'

const home = cliHome()
afterAll(() => home.end())

/** Commands that need no service. */
describe('wrong arguments', () => {
  it.each([
    [['spces'], 'ks: unknown command `ks spces`\nhint: did you mean `ks spaces`?\n'],
    [['spaces', 'creat', 'x'], 'ks: unknown command `ks spaces creat x`\nhint: did you mean `ks spaces create`?\n'],
    [['query', '--mod', 'fast'], 'ks: unknown flag `--mod` for `ks query`\nhint: did you mean `--mode`?\n'],
    [['query', 'x', '--mdoe=fast'], 'ks: unknown flag `--mdoe` for `ks query`\nhint: did you mean `--mode`?\n'],
    [['spaces', '--no-colour'], 'ks: unknown flag `--no-colour` for `ks spaces`\nhint: did you mean `--no-color`?\n'],
    [['spaces', 'show', 'a', 'b'], 'ks: `ks spaces show` takes no argument "b"\nhint: `ks spaces show --help`\n'],
    [['spaces', 'create'], 'ks: `ks spaces create` needs NAME\nhint: `ks spaces create --help`\n'],
    [['doctor', 'now'], 'ks: `ks doctor` takes no argument "now"\nhint: `ks doctor --help`\n'],
    [['serch', 'hello'], 'ks: unknown command `ks serch hello`\nhint: did you mean `ks search`?\n'],
    [['docs', 'shw', 'a.md'], 'ks: unknown command `ks docs shw a.md`\nhint: did you mean `ks docs show`?\n'],
    [
      ['what', 'is', 'the', 'revenue'],
      'ks: unknown command `ks what is the revenue`\nhint: ask a question with `ks query QUESTION`\n',
    ],
    [
      ['--doc', 'x', 'search', 'hello'],
      'ks: `--doc` is before the command\nhint: flags follow it: `ks COMMAND --doc …`\n',
    ],
    [['-v'], 'ks: ks has no flag `-v`\nhint: `ks --version`\n'],
    [['help', 'serch'], 'ks: unknown command `ks serch`\nhint: did you mean `ks search`?\n'],
    [
      ['ingest', 'https://example.com/'],
      'ks: "https://example.com/" does not exist\nhint: add web pages as a source: `ks sources add NAME --uri https://example.com/`\n',
    ],
    [['spaces', '--limit', 'many'], 'ks: --limit must be an integer, received "many"\nhint: `ks spaces --help`\n'],
    [
      ['spaces', '--format', 'yaml'],
      'ks: --format must be one of table, json, jsonl, tsv, received "yaml"\nhint: `ks spaces --help`\n',
    ],
    [['spaces', '--timeout', 'soon'], 'ks: --timeout must be a time such as 30s, 90m, 12h or 7d, received "soon"\n'],
    [
      ['fs', 'ls', 'notes', '-s', 'x'],
      'ks: there is no folder "/notes"\nhint: paths start with `/sources`, `/knowledge`, `/evidence`, `/workspaces`; documents are in `/sources`\n',
    ],
    [['jobs', 'show', 'x'], 'ks: "x" is not the id of a job: a uuid, or # and its last 8 hex digits\n'],
    [['completion', 'tcsh'], 'ks: "tcsh" must be one of bash, zsh, fish\nhint: `ks completion --help`\n'],
    [['spaces', '--json=true'], 'ks: --json takes no value, received "true"\nhint: use `--json` alone, or omit it\n'],
    [
      ['query', 'where', '--require-evidence=', 'is it'],
      'ks: --require-evidence takes no value, received ""\nhint: use `--require-evidence` alone, or omit it\n',
    ],
    [['daemon', 'exec', '--', 'true'], 'ks: give `--temp` or `--data-dir`\n'],
  ])('%j end with 2 and a suggestion', async (args, stderr) => {
    expect(await home.ks(args)).toMatchObject({ code: 2, stdout: '', stderr })
  })

  it('with --json lead to one JSON object on stderr', async () => {
    const { stdout, stderr, code } = await home.ks(['spaces', '--lmit', '1', '--json'])
    expect([stdout, code]).toEqual(['', 2])
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: 'usage',
        message: 'unknown flag `--lmit` for `ks spaces`',
        exitCode: 2,
        hint: 'did you mean `--limit`?',
      },
    })
  })

  it('include a missing NAME even if stdin contains text', async () => {
    expect(await home.ks(['spaces', 'create'], { stdin: 'from a pipe' })).toMatchObject({ code: 2 })
  })
})

describe('help', () => {
  it('shows examples before flags', async () => {
    const { stdout, code } = await home.ks(['ingest', '-h'])
    expect(code).toBe(0)
    expect(stdout.indexOf('EXAMPLES')).toBeLessThan(stdout.indexOf('FLAGS\n'))
    expect(stdout).toContain('$ ks ingest PATH... [FLAGS]')
    expect(stdout).toContain('Common flags: see `ks help flags`')
  })

  it('explains topics', async () => {
    expect((await home.ks(['help', 'exit-codes'])).stdout).toContain('  8  unreachable')
    expect((await home.ks(['help', 'environment'])).stdout).toContain('KS_TOKEN_FILE')
    expect((await home.ks(['help', 'spaces', 'create'])).stdout).toContain('create a knowledge space')
  })
})

describe('--version', () => {
  it('prints the version of the package', async () => {
    const path = fileURLToPath(new URL('../../package.json', import.meta.url))
    const { version } = JSON.parse(readFileSync(path, 'utf8'))
    expect(await home.ks(['--version'])).toMatchObject({ stdout: `ks ${version}\n`, stderr: '', code: 0 })
  })
})

describe('a command without a service', () => {
  it('reports how to start a daemon, with exit 8', async () => {
    expect(await home.ks(['spaces', '--no-autostart'])).toMatchObject({
      code: 8,
      stderr: `ks: no daemon answers for ${home.dataDir}\nhint: \`ks daemon start\`\n`,
    })
    expect((await home.ks(['spaces'], { env: { KS_AUTOSTART: '0' } })).code).toBe(8)
    expect(await home.ks(['daemon', 'status'])).toMatchObject({ code: 8, stderr: '' })
  })

  it('reports an unreachable remote service, or a missing token', async () => {
    const url = 'http://127.0.0.1:9'
    expect(await home.ks(['spaces', '--url', url])).toMatchObject({
      code: 4,
      stderr: `ks: no token for ${url}\nhint: \`ks auth login --url ${url}\`, or KS_TOKEN_FILE\n`,
    })
    const reached = await home.ks(['spaces', '--url', url], { env: { KS_TOKEN: 'x' } })
    expect(reached.code).toBe(8)
    expect(reached.stderr).toContain(`ks: cannot reach ${url} (ECONNREFUSED)`)
  })

  it('can be `ks auth token`, which prints only the token on stdout', async () => {
    const { stdout, code } = await home.ks(['auth', 'token', '--subject', 'ci', '--expires', '1h'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
    const refused = await home.ks(['auth', 'token', '--scope', 'everything'])
    expect(refused.stderr).toContain('--scope must be any of knowledge-spaces:read, ')
    expect(refused.code).toBe(2)
  })
})

describe('settings', () => {
  it('can be stored, shown with their origin, and removed', async () => {
    expect((await home.ks(['config', 'space', 'notes'])).code).toBe(0)
    expect((await home.ks(['config', 'space'])).stdout).toBe('notes\n')
    const shown = await home.ks(['config', '--origin', '--json'], { env: { KS_SPACE: 'other' } })
    expect(JSON.parse(shown.stdout)).toContainEqual(
      expect.objectContaining({ name: 'space', value: 'other', origin: 'environment' }),
    )
    await home.ks(['config', '--unset', 'space'])
    expect((await home.ks(['config', 'space'])).stdout).toBe('\n')
    const refused = await home.ks(['config', 'format', 'yaml'])
    expect(refused).toMatchObject({
      code: 2,
      stderr: 'ks: format must be one of table, json, jsonl, tsv, received "yaml"\n',
    })
    expect((await home.ks(['config', 'spce', 'x'])).stderr).toContain('did you mean `space`?')
  })

  it('for the daemon must satisfy its rules, and are shown with masked secrets', async () => {
    const refused = await home.ks(['config', 'rateLimit', '-1', '--daemon'])
    expect(refused).toMatchObject({ code: 2, stderr: 'ks: rateLimit must be an integer of at least 0\n' })
    const providers = JSON.stringify([
      { pluginId: 'openai-compatible', provider: 'p', baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'sk-secret' },
    ])
    expect((await home.ks(['config', 'providers', providers, '--daemon'])).code).toBe(0)
    const shown = await home.ks(['config', '--daemon', '--format', 'tsv'])
    expect(shown.stdout).toContain('"apiKey":"***"')
    expect(shown.stdout).not.toContain('sk-secret')
    const byEnv = await home.ks(['config', '--daemon'], { env: { KS_DAEMON_PROVIDERS: providers } })
    expect(byEnv.stdout).not.toContain('sk-secret')
    await home.ks(['config', '--unset', 'providers', '--daemon'])
  })
})

describe('contexts', () => {
  it('can be added, selected, shown and removed', async () => {
    const added = await home.ks(['context', 'work', '--url', 'https://kb.example.com', '--space', 'team'])
    expect(added.code).toBe(0)
    await home.ks(['context', 'work'])
    const shown = JSON.parse((await home.ks(['context', '--show', '--json'])).stdout)
    expect(shown).toMatchObject({ context: 'work', url: 'https://kb.example.com', hasToken: false, space: 'team' })
    expect((await home.ks(['context'])).stdout).toContain('work\ttrue\thttps://kb.example.com\tteam')
    await home.ks(['context', '--remove', 'work'])
    expect(JSON.parse((await home.ks(['context', '--show', '--json'])).stdout).context).toBe('local')
    expect((await home.ks(['context', 'wrok'])).code).toBe(5)
  })
})

describe('a project file', () => {
  it('cannot change where tokens are sent; trying causes a warning', async () => {
    home.file('cloned/.ks.json', JSON.stringify({ url: 'https://evil.example', space: 'docs' }))
    const cwd = `${home.dir}/cloned`
    const { stdout, stderr } = await home.ks(['context', '--show', '--json'], { cwd })
    expect(JSON.parse(stdout)).toMatchObject({ context: 'local', space: 'docs', spaceChosenBy: 'project' })
    expect(stderr).toContain('may not set url; it has no effect')
  })
})

describe('completion scripts', () => {
  it.each(['bash', 'zsh', 'fish'])('for %s contain all commands except hidden ones', async (shell) => {
    const { stdout, code } = await home.ks(['completion', shell])
    expect(code).toBe(0)
    for (const word of ['quickstart', 'listStagedCommits', 'dry-run']) expect(stdout).toContain(word)
    expect(stdout).not.toContain(home.dir)
  })
})
