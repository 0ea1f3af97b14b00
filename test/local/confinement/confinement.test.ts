import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { createConfinement } from '../../../src/local/confinement/confinement.js'
import type { ProgramPaths } from '../../../src/local/confinement/visible-paths.js'
import { createPathWithout } from '../../helpers/path-without.js'
import { isRunning } from '../../helpers/running-process.js'
import { until } from '../../helpers/until.js'

const base = mkdtempSync(join(tmpdir(), 'ks-confinement-'))
const dataDir = join(base, 'data')
const path = process.env.PATH ?? ''
const searchPaths: Record<string, string> = { bubblewrap: path }
/** listens on the network and on a socket in the data directory */
const servers: Server[] = []
let port = 0
const logged: string[] = []

beforeAll(async () => {
  searchPaths.unshare = createPathWithout(['bwrap'], join(base, 'without-bwrap'))
  searchPaths.nothing = createPathWithout(['bwrap', 'unshare'], join(base, 'without-both'))
  mkdirSync(join(dataDir, 'bin'), { recursive: true })
  writeFileSync(join(dataDir, 'signing.key'), 'the-key-of-the-daemon')
  writeFileSync(join(base, 'tls.key'), 'the-key-of-the-server')
  for (const address of [0, join(dataDir, 'sock')]) {
    const server = createServer((_, response) => response.end('answered by the daemon')).listen(address, undefined)
    servers.push(server)
    await until(() => server.listening)
  }
  const address = servers[0]?.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
})
afterEach(() => {
  process.env.PATH = path
  logged.length = 0
})
afterAll(() => {
  for (const server of servers) server.close()
  removeFolder(base)
})

function confinement(by: string, allowUnconfined = false) {
  process.env.PATH = searchPaths[by]
  const log = (_: object, message: string) => void logged.push(message)
  return createConfinement({
    listSecrets: () => [dataDir, join(base, 'tls.key')],
    allowUnconfined,
    log: { info: log, warn: log },
  })
}

/** Runs a confined program to its end. */
async function run(by: string, program: ProgramPaths, env: NodeJS.ProcessEnv = {}) {
  const folder = mkdtempSync(join(base, 'work-'))
  const start = await confinement(by).prepare({ ...program, filled: program.argv, folder })
  const [file = '', ...args] = start.argv
  // With the variables of the daemon, which a program must not see elsewhere, either.
  const { stdout, stderr, status } = spawnSync(file, args, {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, ...env },
  })
  return { by: start.by, stdout, stderr, status, folder }
}

const shell = (script: string, paths: string[] = []) => ({ argv: ['/bin/sh', '-c', script], paths })

const hasBubblewrap = path.split(delimiter).some((folder) => existsSync(join(folder, 'bwrap')))

describe.each([
  { by: 'bubblewrap', isInstalled: hasBubblewrap },
  { by: 'unshare', isInstalled: true },
])('a program confined by $by', { timeout: 60_000 }, ({ by, isInstalled }) => {
  beforeEach(({ skip }) => skip(!isInstalled, `${by} is not installed`))

  it('reads no secret inside a listed folder, and nothing outside of listed paths', async () => {
    const { stdout, by: used } = await run(
      by,
      shell(
        `cat ${dataDir}/signing.key ${base}/tls.key ${process.cwd()}/package.json /etc/shadow; ls -A ${dataDir}; cat ${base}/plain-${by}`,
        [base],
      ),
    )
    writeFileSync(join(base, `plain-${by}`), 'listed')
    const again = await run(by, shell(`cat ${base}/plain-${by}`, [base]))
    expect({ used, stdout, listed: again.stdout }).toEqual({ used: by, stdout: '', listed: 'listed' })
  })

  it('reaches neither the network nor a socket of the daemon', async () => {
    const script = `
      const http = require('node:http')
      const ask = (where) => new Promise((resolve) => http.get({ ...where, path: '/' }, (r) => r.on('data', (d) => resolve(String(d)))).on('error', (e) => resolve(e.code)))
      Promise.all([ask({ port: ${port}, host: '127.0.0.1' }), ask({ socketPath: ${JSON.stringify(join(dataDir, 'sock'))} })]).then((all) => console.log(all.join(' ')))`
    const { stdout } = await run(by, { argv: [process.execPath, '-e', script], paths: [base] })
    expect(stdout).toMatch(/^E(NETUNREACH|CONNREFUSED|ADDRNOTAVAIL) E(NOENT|CONNREFUSED)\n$/)
  })

  it('sees no other process and no environment of one', async () => {
    const { stdout } = await run(
      by,
      shell(`cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -c PATH=; ls -d /proc/${process.pid}`),
    )
    const count = Number(stdout.split('\n')[0])
    expect(count).toBeGreaterThan(0)
    expect(count).toBeLessThan(6)
    expect(stdout).not.toContain(`/proc/${process.pid}\n`)
  })

  it('writes to its folder and temporary files only, without capabilities or a way to remount', async () => {
    const tool = join(base, 'tools')
    mkdirSync(tool, { recursive: true })
    writeFileSync(join(tool, 'kept'), 'kept')
    const { stdout, folder } = await run(
      by,
      shell(
        `echo made > made; echo t > /tmp/t; echo s > /dev/shm/s; cat /tmp/t; cat /dev/shm/s; pwd
         for at in ${tool}/kept ${tool}/new /usr/new /new /etc/new /dev/new; do (echo changed > $at) 2> /dev/null && echo "wrote $at"; done
         grep CapEff /proc/self/status
         unshare --user --map-root-user --mount sh -c 'umount -a; mount -o remount,bind,rw ${tool}; echo changed > ${tool}/kept' 2> /dev/null
         unshare --mount sh -c 'mount -o remount,bind,rw ${tool}; echo changed > ${tool}/kept' 2> /dev/null
         umount ${tool} 2> /dev/null; chroot /proc/1/root true 2> /dev/null; exit 0`,
        [tool],
      ),
    )
    expect(stdout).toBe(`t\ns\n${folder}\nCapEff:\t0000000000000000\n`)
    expect(readFileSync(join(tool, 'kept'), 'utf8')).toBe('kept')
    expect(readFileSync(join(folder, 'made'), 'utf8')).toBe('made\n')
  })

  it('sees its package, its script and the libraries next to it, but not the folder above them', async () => {
    const bin = join(base, `package-${by}`, 'bin')
    mkdirSync(bin, { recursive: true })
    mkdirSync(join(bin, '..', 'lib'))
    writeFileSync(join(bin, '..', 'lib', 'words'), 'library')
    writeFileSync(join(bin, 'convert'), '#!/bin/sh\ncat "$(dirname "$0")/../lib/words"\n')
    chmodSync(join(bin, 'convert'), 0o755)
    expect(await run(by, { argv: [join(bin, 'convert')] })).toMatchObject({ stdout: 'library', status: 0 })
    // By its name, and as the only visible entry of the data directory.
    process.env.PATH = path
    searchPaths[by] = `${bin}${delimiter}${searchPaths[by]}`
    expect(await run(by, { argv: ['convert'] })).toMatchObject({ stdout: 'library', status: 0 })
    const own = join(dataDir, 'bin', 'own')
    writeFileSync(own, `#!/bin/sh\necho own; cat ${dataDir}/signing.key\n`)
    chmodSync(own, 0o755)
    expect(await run(by, { argv: [own] })).toMatchObject({ stdout: 'own\n' })
    expect(await run(by, { argv: [own], paths: [base] })).toMatchObject({ stdout: 'own\n' })
    const script = join(base, 'script.cjs')
    writeFileSync(script, `process.stdout.write('script ' + require('node:fs').readdirSync(${JSON.stringify(base)}))`)
    const { stdout } = await run(by, { argv: [process.execPath, script] })
    expect(stdout).toMatch(/^script \S*script\.cjs/)
    expect(stdout).not.toMatch(/data|tls|models|tools/)
  })

  it('reads a file that an argument names, even if the name contains a placeholder', async () => {
    const models = join(base, 'models')
    mkdirSync(models, { recursive: true })
    writeFileSync(join(models, 'one.bin'), 'weights')
    const folder = mkdtempSync(join(base, 'work-'))
    const start = await confinement(by).prepare({
      argv: ['cat', `${models}/{model}.bin`],
      filled: ['cat', `${models}/one.bin`],
      folder,
    })
    const [file = '', ...args] = start.argv
    expect(spawnSync(file, args, { encoding: 'utf8' }).stdout).toBe('weights')
    // Values of a caller have no influence.
    const climbing = await confinement(by).prepare({
      argv: ['cat', `${models}/{model}.bin`],
      filled: ['cat', `${models}/../tls.key`],
      folder,
    })
    const [program = '', ...words] = climbing.argv
    expect(spawnSync(program, words, { encoding: 'utf8' }).stdout).toBe('')
  })

  it('passes on its exit code', async () => {
    expect((await run(by, shell('exit 7'))).status).toBe(7)
  })

  it('ends with all of its children when its parent process is killed', async () => {
    const folder = mkdtempSync(join(base, 'work-'))
    const mark = `ks-orphan-of-${by}`
    const argv = shell(`env -i setsid sh -c 'sleep 600; : ${mark}' < /dev/null > /dev/null 2>&1 & sleep 600`).argv
    const start = await confinement(by).prepare({ argv, filled: argv, folder })
    const [file = '', ...args] = start.argv
    const daemon = spawn(
      process.execPath,
      [
        '-e',
        `require('node:child_process').spawn(${JSON.stringify(file)}, ${JSON.stringify(args)}, { detached: true, stdio: 'ignore' })`,
      ],
      { stdio: 'ignore' },
    )
    await until(() => isRunning(mark))
    daemon.kill('SIGKILL')
    await until(() => !isRunning(mark))
  })
})

describe('a machine without a working bubblewrap or unshare', () => {
  it('starts no program, and names the setting that allows unconfined programs', async () => {
    const refused = run('nothing', shell('echo started'))
    await expect(refused).rejects.toThrow(/nothing confines programs on this machine.*set unconfinedPrograms/)
    expect(logged).toHaveLength(1)
    expect(logged[0]).toMatch(/unconfinedPrograms/)
  })

  it('starts a program without confinement if the operator allows that', async () => {
    const { argv, by } = await confinement('nothing', true).prepare({
      ...shell('echo started'),
      filled: ['/bin/sh', '-c', 'echo started'],
      folder: base,
    })
    expect({ argv, by }).toEqual({ argv: ['/bin/sh', '-c', 'echo started'], by: 'nothing' })
    expect(logged).toEqual([expect.stringMatching(/run unconfined/)])
  })
})
