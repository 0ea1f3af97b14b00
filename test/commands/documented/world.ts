import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa, execaSync } from 'execa'
import { EXIT } from '../../../src/contract/errors.js'
import { type CliHome, type CliResult, cliHome, isAlive, KCHAT, KS, plainEnv } from '../../helpers/cli.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { type GitServer, startGit } from '../../helpers/places/git.js'
import type { RemoteServer } from '../../helpers/places/place.js'
import { startS3 } from '../../helpers/places/s3.js'
import { page, type Site, startSite } from '../../helpers/site.js'
import { until } from '../../helpers/until.js'
import { FILES, PROGRAMS } from './files.js'

interface Run {
  /** for a line that runs forever: sends Ctrl-C once its output contains this */
  interruptAt?: RegExp
}

/** The environment of the examples: a user's folders and daemon, models, a web site and drives on loopback. */
export interface World {
  home: CliHome
  model: FakeOpenAi
  slowModel: FakeOpenAi
  site: Site
  git: GitServer
  s3: RemoteServer
  /** address of the daemon, which is started if needed */
  url(): Promise<string>
  token(): string
  /** Calls an operation of the gateway. @throws when it is refused */
  http<T>(method: string, path: string, body?: unknown): Promise<T>
  ks(...args: string[]): Promise<string>
  kchat(...args: string[]): Promise<string>
  /** the end of an id with `#`, as tables show it */
  shown(id: string): string
  /** Suspends the child processes of the daemon until `goOn`. */
  pause(): void
  goOn(): void
  /** runs a line in a shell */
  shell(line: string, run?: Run): Promise<CliResult>
  end(): Promise<void>
}

export async function startWorld(): Promise<World> {
  const home = cliHome()
  const [model, slowModel, site, git, s3] = await Promise.all([
    startFakeOpenAi({
      dimension: 16,
      answer: () => 'Keller is on call in August, and Berg follows her in September of the same year.',
    }),
    startFakeOpenAi({ answer: () => 'word '.repeat(2000), deltaMs: 100 }),
    startSite({ '/handbook/': page('Handbook', 'Visitors moor at the eastern quay.') }),
    startGit(),
    startS3(),
  ])
  for (const name of ['docs/start.md', 'docs/tides.md']) await git.put(name, `# ${name}\n\nThe moon pulls the sea.\n`)
  await s3.put('tides.md', '# Tides\n\nThe moon pulls the sea.\n')
  await s3.put('winds.pdf', 'no PDF')
  await s3.put('2026/gales.md', '# Gales\n\nThe worst gale came in March.\n')

  const provider = (name: string, { url }: { url: string }) => ({
    pluginId: 'openai-compatible',
    provider: name,
    baseUrl: url,
  })
  home.env.KS_DAEMON_PROVIDERS = JSON.stringify([
    ...['ollama', 'local'].map((name) => provider(name, model)),
    provider('slow', slowModel),
  ])
  home.env.KS_DAEMON_DEFAULT_SPEECH = 'openai-compatible/local/tts'
  home.env.KS_DAEMON_DEFAULT_TRANSCRIPTION = 'openai-compatible/local/stt'
  home.env.KS_DAEMON_EGRESS_ALLOW = '127.0.0.2'
  // An example sets it in the file, where the next restart would read it.
  home.env.KS_DAEMON_COMPILATION = 'durable'
  home.env.KS_SPACE = 'example-space'
  home.env.PATH = `${join(home.dir, 'bin')}:${process.env.PATH}`
  home.env.SPACE = 'example-space'
  prepareFolders(home)

  const paused: number[] = []
  const daemonFile = () => JSON.parse(readFileSync(join(home.dataDir, 'daemon.json'), 'utf8'))
  const must = async (run: Promise<CliResult>, what: string[]) => {
    const { code, stdout, stderr } = await run
    if (code !== 0) throw new Error(`${what.join(' ')} ended with ${code}: ${stderr}`)
    return stdout
  }
  const world: World = {
    home,
    model,
    slowModel,
    site,
    git,
    s3,
    ks: (...args) => must(home.ks(args), args),
    kchat: (...args) => must(home.kchat(args), args),
    url: async () => {
      const isThere = existsSync(join(home.dataDir, 'daemon.json')) && isAlive(daemonFile().pid)
      if (!isThere) await world.ks('daemon', 'start')
      return daemonFile().url
    },
    token: () => readFileSync(join(home.dataDir, 'cli.token'), 'utf8').trim(),
    http: async (method, path, body) => {
      const response = await fetch(`${await world.url()}${path}`, {
        method,
        headers: { authorization: `Bearer ${world.token()}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
      return text === '' ? undefined : JSON.parse(text)
    },
    shown: (id) => {
      appendFileSync(join(home.dir, 'cache/recent-ids'), `${id}\n`)
      return `#${id.replaceAll('-', '').slice(-8)}`
    },
    pause: () => {
      const children = readFileSync(`/proc/${daemonFile().pid}/task/${daemonFile().pid}/children`, 'utf8').trim()
      for (const pid of children.split(' ').filter(Boolean).map(Number)) {
        process.kill(pid, 'SIGSTOP')
        paused.push(pid)
      }
    },
    goOn: () => {
      for (const pid of paused.splice(0)) if (isAlive(pid)) process.kill(pid, 'SIGCONT')
    },
    shell: (line, run = {}) => shell(home, line, run),
    end: async () => {
      await home.end()
      await Promise.all([model.close(), slowModel.close(), site.end(), git.end(), s3.end()])
    },
  }
  return world
}

/** Creates the files of the examples, the programs they call, and a repository around them. */
function prepareFolders(home: CliHome): void {
  for (const [path, content] of Object.entries(FILES)) home.file(path, content)
  for (const folder of ['cache', '.config/fish/completions']) mkdirSync(join(home.dir, folder), { recursive: true })
  const program = (name: string, script: string) => chmodSync(home.file(`bin/${name}`, `#!/bin/sh\n${script}\n`), 0o755)
  program('ks', `exec '${process.execPath}' '${KS}' "$@"`)
  program('kchat', `exec '${process.execPath}' '${KCHAT}' "$@"`)
  for (const [name, script] of Object.entries(PROGRAMS)) {
    // `jq` is the installed one if there is one; the others belong to desktops.
    if (name !== 'jq' || !isInstalled(name)) program(name, script)
  }
  const git = (...args: string[]) => execaSync('git', args, { cwd: join(home.dir, 'work'), stdio: 'ignore' })
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', 'commit', '-q', '-m', 'notes')
}

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)))
}

const LONGEST_MS = 50_000

async function shell(home: CliHome, line: string, { interruptAt }: Run): Promise<CliResult> {
  // A separate process group, so that Ctrl-C reaches every program of the line, as at a terminal.
  const child = execa('bash', ['-o', 'pipefail', '-c', line], {
    cwd: join(home.dir, 'work'),
    env: { ...plainEnv(), ...home.env },
    detached: true,
    buffer: false,
    reject: false,
    extendEnv: false,
  })
  const kill = (signal: NodeJS.Signals) => child.pid !== undefined && process.kill(-child.pid, signal)
  const timer = setTimeout(() => kill('SIGKILL'), LONGEST_MS)
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdin.on('error', () => {})
  const closed = new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
    child.once('close', (code, signal) => resolve([code, signal])),
  )
  // An interrupted command has an open stdin, as at a terminal.
  if (interruptAt === undefined) child.stdin.end()
  else {
    const hasEnded = () => child.exitCode !== null || child.signalCode !== null
    await until(() => hasEnded() || interruptAt.test(stdout + stderr), LONGEST_MS)
    if (!hasEnded()) kill('SIGINT')
  }
  const [code, signal] = await closed
  clearTimeout(timer)
  // The exit code of a shell after Ctrl-C.
  return { stdout, stderr, code: signal === 'SIGINT' ? EXIT.interrupted : code, signal }
}
