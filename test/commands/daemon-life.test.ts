import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, describe, expect, it } from 'vitest'
import { type CliHome, cliHome, isAlive } from '../helpers/cli.js'
import { until } from '../helpers/until.js'

const homes: CliHome[] = []
afterEach(async () => {
  for (const home of homes.splice(0)) await home.end()
})

function newHome(): CliHome {
  const home = cliHome()
  homes.push(home)
  return home
}

function daemonFile(home: CliHome): { pid: number; instance: string; url: string } {
  return JSON.parse(readFileSync(join(home.dataDir, 'daemon.json'), 'utf8'))
}

describe('a command without a running daemon', () => {
  it('starts one daemon when twenty commands run at once', async () => {
    const home = newHome()
    const runs = await Promise.all(Array.from({ length: 20 }, () => home.ks(['spaces', '--json'])))
    expect(runs.map((run) => [run.code, run.stdout])).toEqual(runs.map(() => [0, '[]\n']))
    const { pid } = daemonFile(home)
    const log = readFileSync(join(home.dataDir, 'logs', 'daemon.log'), 'utf8')
    expect(log.split('\n').filter((line) => line.includes('"ready"'))).toHaveLength(1)
    expect(isAlive(pid)).toBe(true)
  }, 120_000)

  it('starts a new daemon after the previous daemon was killed', async () => {
    const home = newHome()
    await home.ks(['api', 'getHealth'])
    const before = daemonFile(home)
    process.kill(before.pid, 'SIGKILL')
    await until(() => !isAlive(before.pid))
    expect((await home.ks(['spaces', '--json'])).code).toBe(0)
    expect(daemonFile(home).instance).not.toBe(before.instance)
  })

  it('A57: ignores a daemon.json whose instance does not answer, and signals no other process', async () => {
    const home = newHome()
    await home.ks(['api', 'getHealth'])
    await home.ks(['daemon', 'stop'])
    const stranger = createServer().listen(0, '127.0.0.1')
    // The process of this test represents another process with the same pid.
    const file = {
      instance: 'x',
      pid: process.pid,
      url: 'http://127.0.0.1:1',
      version: '0',
      startedAt: 'x',
      mode: 'auto',
    }
    writeFileSync(join(home.dataDir, 'daemon.json'), JSON.stringify({ ...file, dataDir: home.dataDir }))
    expect(await home.ks(['daemon', 'stop', '--force'])).toMatchObject({ code: 0, stdout: 'no daemon is running\n' })
    expect((await home.ks(['spaces', '--json'])).stdout).toBe('[]\n')
    expect(daemonFile(home).pid).not.toBe(process.pid)
    stranger.close()
  })
})

describe('a daemon that cannot start', () => {
  it('leads to exit code 8 with the reason and a remedy', async () => {
    const home = newHome()
    home.file('data/VERSION', '99\n')
    const { code, stderr, stdout } = await home.ks(['spaces'])
    expect([code, stdout]).toEqual([8, ''])
    expect(stderr).toMatch(/^ks: the daemon exited before it was ready: .*layout 99/)
    expect(stderr).toContain('hint: `ks doctor`')
  })

  it('because its port is in use leads to a message with the port and the program that uses it', async () => {
    const home = newHome()
    const script = home.file(
      'holder.mjs',
      "import { createServer } from 'node:http'\nconst server = createServer().listen(0, '127.0.0.1', () => console.log(server.address().port))\n",
    )
    const holder = execa(process.execPath, [script, '--password=secret'], {
      stdio: ['ignore', 'pipe', 'inherit'],
      buffer: false,
      reject: false,
    })
    const [chunk] = await once(holder.stdout, 'data')
    const port = Number(String(chunk))
    const { code, stderr } = await home.ks(['daemon', 'start', '--listen', `127.0.0.1:${port}`])
    holder.kill()
    expect(code).toBe(8)
    const who = process.platform === 'linux' ? `node holder.mjs (pid ${holder.pid})` : 'another program'
    expect(stderr).toContain(`127.0.0.1:${port} is already in use by ${who}`)
    expect(stderr).not.toContain('secret')
    expect(stderr).toContain('hint: `ks daemon start --listen 127.0.0.1:0`')
  })
})

describe('daemon commands', () => {
  it('start, show and stop the daemon, restart it at the same address, and print its log', async () => {
    const home = newHome()
    expect((await home.ks(['daemon', 'start'])).stdout).toMatch(/^started: pid \d+, http/)
    expect((await home.ks(['daemon', 'start'])).stdout).toMatch(/^already runs: pid/)
    const before = daemonFile(home)
    const status = JSON.parse((await home.ks(['daemon', 'status', '--json'])).stdout)
    expect(status).toMatchObject({ running: true, pid: before.pid, mode: 'manual', health: { ok: true } })
    expect((await home.ks(['daemon', 'status', '--format', 'table'])).stdout).toContain(`pid ${before.pid}`)
    await home.ks(['daemon', 'restart'])
    const after = daemonFile(home)
    expect(after.url).toBe(before.url)
    expect(after.instance).not.toBe(before.instance)
    const logs = await home.ks(['daemon', 'logs', '-n', '1000'])
    expect(
      logs.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).msg),
    ).toContain('ready')
    const pretty = await home.ks(['daemon', 'logs', '--format', 'table', '--level', 'info'])
    expect(pretty.stdout).toMatch(/^\d\d:\d\d:\d\d info /m)
    expect((await home.ks(['daemon', 'stop'])).stdout).toBe(`stopped: pid ${after.pid}\n`)
    await until(() => !isAlive(after.pid))
    expect((await home.ks(['daemon', 'stop'])).stdout).toBe('no daemon is running\n')
  })

  it('report that nothing is lost if the daemon exceeds its stop time', async () => {
    const home = newHome()
    home.file('data/config.json', JSON.stringify({ stopSeconds: 0.05 }))
    await home.ks(['spaces', 'create', 'Notes'])
    await home.ks(['ingest', home.file('note.md', '# Note\n\nThe lamp is blue.\n'), '--space', 'notes', '--wait'])
    const { pid, processes } = JSON.parse((await home.ks(['daemon', 'status', '--json'])).stdout)
    const index = processes.find(({ role }: { role: string }) => role === 'index').pid
    process.kill(index, 'SIGSTOP')
    const stopped = await home.ks(['daemon', 'stop'])
    expect(stopped).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(`^stopped: pid ${pid}, without a complete shutdown .* not lost`),
    })
    await until(() => !isAlive(index))
    expect(JSON.parse((await home.ks(['docs', '--space', 'notes', '--json'])).stdout)).toHaveLength(1)
    expect(JSON.parse((await home.ks(['daemon', 'stop', '--json'])).stdout)).toMatchObject({
      stopped: true,
      manner: expect.any(String),
    })
  })

  it('include exec --temp, which runs a program with a temporary daemon, and exits with its exit code', async () => {
    const home = newHome()
    const script =
      'echo "$KS_DATA_DIR"; "$NODE" "$KS" spaces create X >/dev/null && "$NODE" "$KS" spaces --fields slug; exit 7'
    const env = { NODE: process.execPath, KS: join(import.meta.dirname, '../../bin/ks.js') }
    const run = await home.ks(['daemon', 'exec', '--temp', '--', 'sh', '-c', script], { env })
    const [folder, slug] = run.stdout.split('\n')
    expect([slug, run.code]).toEqual(['x', 7])
    expect(() => readFileSync(join(folder ?? '', 'VERSION'))).toThrow()
    expect(() => daemonFile(home)).toThrow()
  })

  it('include exec, which reports a program that does not exist', async () => {
    const home = newHome()
    const run = await home.ks(['daemon', 'exec', '--temp', '--', 'no-such-command-here'])
    expect(run).toMatchObject({ code: 2 })
    expect(run.stderr).toContain('no-such-command-here cannot be run')
  })
})

describe('ks doctor', () => {
  it('approves a correct installation, and reports each problem with a fix', async () => {
    const home = newHome()
    const well = JSON.parse((await home.ks(['doctor', '--json'])).stdout)
    const failed = well.filter((finding: { state: string }) => finding.state === 'failed')
    expect(failed).toEqual([])
    home.file('data/config.json', '{"nonsense":1}')
    home.file('config/credentials.json', '{}')
    const ill = await home.ks(['doctor', '--json'])
    expect(ill.code).toBe(1)
    const found = JSON.parse(ill.stdout).filter((finding: { state: string }) => finding.state === 'failed')
    expect(found.map((finding: { check: string }) => finding.check)).toEqual(
      expect.arrayContaining(['credentials', 'daemon config']),
    )
    for (const finding of found) expect(finding.fix).toBeTruthy()
  })
})

describe('the environment of a started daemon', () => {
  it('contains settings, paths and proxies, but no token of the caller', async () => {
    const { reduceEnv } = await import('../../src/client/start-daemon.js')
    const env = {
      KS_DAEMON_LISTEN: 'a',
      KS_TOKEN: 't',
      KS_URL: 'u',
      PATH: 'p',
      AWS_SECRET: 's',
      OPENAI: 'k',
      https_proxy: 'x',
    }
    expect(reduceEnv(env, ['OPENAI'])).toEqual({ KS_DAEMON_LISTEN: 'a', PATH: 'p', OPENAI: 'k', https_proxy: 'x' })
  })
})
