import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execaSync } from 'execa'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { isForDataDir, renderLaunchdPlist, renderSystemdUnit } from '../../src/cli/service/unit.js'
import { cliHome } from '../helpers/cli.js'

const home = cliHome()
afterAll(() => home.end())
afterEach(() => home.ks(['daemon', 'install', '--uninstall', '--yes']))

const unit = join(home.dir, '.config', 'systemd', 'user', 'ksd.service')
const canVerify = !execaSync('systemd-analyze', ['--version'], { reject: false }).failed
if (!canVerify) process.stdout.write('units are not verified: systemd-analyze is not installed\n')

/** A systemctl with a running manager: it records its arguments, and starts the command of the unit. */
function systemctl(): { env: Record<string, string>; told: () => string[] } {
  const log = home.file('told', '')
  const start = `sed -n 's/^ExecStart=//p' '${unit}' | tr -d '"'`
  const text = `#!/bin/sh
shift
echo "$*" >> '${log}'
case "$1" in
  start|restart) KS_DAEMON_LISTEN=127.0.0.1:0 setsid $(${start}) > '${home.dir}/out' 2>&1 < /dev/null & ;;
  disable) [ ! -f '${home.dataDir}/daemon.json' ] || kill $(sed -n 's/.*"pid": \\([0-9]*\\).*/\\1/p' '${home.dataDir}/daemon.json') ;;
  is-active) echo active ;;
esac
`
  chmodSync(home.file('bin/systemctl', text), 0o755)
  return {
    env: { PATH: `${join(home.dir, 'bin')}:${process.env.PATH ?? ''}` },
    told: () => readFileSync(log, 'utf8').trim().split('\n'),
  }
}

/** A systemctl without a manager, as in a container. */
function noManager(): { env: Record<string, string> } {
  chmodSync(home.file('nobin/systemctl', '#!/bin/sh\necho "Failed to connect to bus" >&2\nexit 1\n'), 0o755)
  return { env: { PATH: `${join(home.dir, 'nobin')}:${process.env.PATH ?? ''}` } }
}

describe.skipIf(process.platform !== 'linux')('ks daemon install', () => {
  it('shows and writes the unit, and prints what to run without systemd; a second run changes nothing', async () => {
    const place = noManager()
    const dry = await home.ks(['daemon', 'install', '--dry-run'], place)
    expect(dry, dry.stderr).toMatchObject({ code: 0 })
    expect(dry.stdout).toContain('ExecStart=')
    expect(existsSync(unit)).toBe(false)
    expect(await home.ks(['daemon', 'install'], place)).toMatchObject({ code: 2 })
    const installed = await home.ks(['daemon', 'install', '--yes'], {
      env: { ...place.env, OPENAI_API_KEY: 'secret-of-mine', KS_TOKEN: 'secret-token' },
    })
    expect(installed, installed.stderr).toMatchObject({ code: 0 })
    expect(installed.stderr).toContain('systemctl --user enable --now ksd.service')
    const text = readFileSync(unit, 'utf8')
    expect(text).toBe(dry.stdout)
    expect(text).toContain(`--data-dir ${home.dataDir}`)
    expect(text).not.toMatch(/secret/)
    expect(statSync(unit).mode & 0o777).toBe(0o644)
    const again = await home.ks(['daemon', 'install', '--yes', '--json'], place)
    expect(JSON.parse(again.stdout)).toMatchObject({ changes: false, backup: null, started: false })
    expect(readFileSync(unit, 'utf8')).toBe(text)
    expect((await home.ks(['daemon', 'install', '--uninstall', '--dry-run'], place)).stdout).toContain(
      `would be removed: ${unit}`,
    )
    expect(await home.ks(['daemon', 'install', '--uninstall', '--yes'], place)).toMatchObject({ code: 0 })
    expect(existsSync(unit)).toBe(false)
  })

  it('backs up a unit that it did not write before replacing it; `ks daemon install --uninstall` keeps such a unit', async () => {
    const place = noManager()
    home.file('.config/systemd/user/ksd.service', '[Service]\nExecStart=/bin/true\n')
    expect(await home.ks(['daemon', 'install', '--uninstall', '--yes'], place)).toMatchObject({ code: 6 })
    const { backup } = JSON.parse((await home.ks(['daemon', 'install', '--yes', '--json'], place)).stdout)
    expect(readFileSync(backup, 'utf8')).toContain('/bin/true')
    expect(readFileSync(unit, 'utf8')).toContain('ksd.js')
  })

  it('replaces a daemon that a command started by a daemon that systemd starts', async () => {
    expect(await home.ks(['spaces'])).toMatchObject({ code: 0 })
    const before = JSON.parse((await home.ks(['daemon', 'status', '--json'])).stdout)
    expect(before).toMatchObject({ mode: 'auto' })
    const { env, told } = systemctl()
    const installed = await home.ks(['daemon', 'install', '--yes'], { env })
    expect(installed, installed.stderr).toMatchObject({ code: 0 })
    expect(told()).toEqual(expect.arrayContaining(['daemon-reload', 'enable ksd.service', 'restart ksd.service']))
    const after = JSON.parse((await home.ks(['daemon', 'status', '--json'], { env })).stdout)
    expect(after).toMatchObject({ running: true, mode: 'service', service: { path: unit, state: 'active' } })
    expect(after.instance).not.toBe(before.instance)
    expect((await home.ks(['daemon', 'install', '--yes'], { env })).stdout).toContain('already runs as a service')
    // A daemon on the directory is stopped first, like systemd does.
    await home.ks(['daemon', 'stop'], { env })
    const started = await home.ks(['daemon', 'start', '--json'], { env })
    expect(JSON.parse(started.stdout)).toMatchObject({ mode: 'service' })
    expect(await home.ks(['daemon', 'install', '--uninstall', '--yes'], { env })).toMatchObject({ code: 0 })
    expect(told()).toContain('disable --now ksd.service')
  })

  it.skipIf(!canVerify)('writes units that systemd accepts, whatever the names of folders', () => {
    const folder = join(home.dir, 'a b%h "q" $X')
    const text = renderSystemdUnit({
      node: process.execPath,
      ksd: join(folder, 'bin', 'ksd.js'),
      dataDir: join(folder, 'data'),
      folders: { KS_CONFIG_DIR: folder },
      environmentFile: join(folder, 'ksd.env'),
    })
    const path = home.file('units/ksd.service', text)
    const run = execaSync('systemd-analyze', ['--user', 'verify', path], {
      reject: false,
      all: true,
      env: { XDG_RUNTIME_DIR: home.dir },
    })
    expect(run.all).not.toMatch(/ksd\.service/)
    expect(text).toContain('%%h')
    expect(text).toContain('$$X')
    writeFileSync(path, text.replace('RestartSec=5', 'RestartSec=no'))
    const broken = execaSync('systemd-analyze', ['--user', 'verify', path], {
      reject: false,
      all: true,
      env: { XDG_RUNTIME_DIR: home.dir },
    })
    expect(broken.all).toMatch(/ksd\.service/)
  })
})

it('an installed service belongs to its data directory only, not to a directory whose path begins alike', () => {
  for (const kind of ['systemd', 'launchd'] as const)
    for (const dataDir of ['/home/u/ks data', '/home/u/<50%>']) {
      const program = { node: '/n/node', ksd: '/k/ksd.js', dataDir, folders: {}, environmentFile: '/e' }
      const text = kind === 'systemd' ? renderSystemdUnit(program) : renderLaunchdPlist(program, `${dataDir}/log`)
      expect(isForDataDir(kind, text, dataDir)).toBe(true)
      for (const other of [dataDir.slice(0, -1), '/home/u', `${dataDir}2`])
        expect(isForDataDir(kind, text, other), other).toBe(false)
    }
})

describe('the launchd job', () => {
  it('consists of a property list with the same command, with escaped characters', () => {
    const text = renderLaunchdPlist(
      { node: '/n/node', ksd: '/k/ksd.js', dataDir: '/d/<a&b>', folders: {}, environmentFile: '/e' },
      '/d/log',
    )
    expect(text).toContain('<string>/d/&lt;a&amp;b&gt;</string>')
    expect(text).toContain('<string>--mode</string>\n    <string>service</string>')
  })
})
