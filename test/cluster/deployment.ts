import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execaNode } from 'execa'
import { Client } from '../../src/client/client.js'
import { findDaemon } from '../../src/client/local-daemon.js'
import { createToken } from '../../src/local/keys.js'
import { type DaemonProcess, startKsd, temporaryDir } from '../helpers/daemon.js'
import { findServerPrograms } from '../helpers/postgres-server.js'
import { until } from '../helpers/until.js'
import { freePort } from '../helpers/whole-daemon.js'
import { type DatabasePair, startPair } from './database-pair.js'
import { type FaultyStorage, startStorage } from './storage.js'

const HAPROXY = '/usr/sbin/haproxy'

/** Programs that a cluster needs and this machine lacks. */
export const lacking = [
  ...(findServerPrograms() === undefined ? ['PostgreSQL 15'] : []),
  ...(existsSync(HAPROXY) ? [] : ['haproxy']),
]
if (lacking.length > 0) process.stderr.write(`the tests of a cluster are skipped without ${lacking.join(' and ')}\n`)

export interface Gateway {
  readonly process: DaemonProcess
  readonly client: Client
  /** Delay of its event loop in milliseconds since the last call. */
  eventLoop(): Promise<{ p50: number; p99: number; p999: number; max: number } | undefined>
  /** Kills it, and starts it again on its data directory. */
  killed(): Promise<void>
}

/** Gateways on one database and one storage, behind a balancer. */
export interface Deployment {
  database: DatabasePair
  storage: FaultyStorage
  /** address of the balancer */
  client: Client
  gateways: Gateway[]
  /** starts another gateway, and adds it to the balancer */
  join(): Promise<Gateway>
  end(): Promise<void>
}

const MOST_GATEWAYS = 4

export async function startDeployment(gateways = 3): Promise<Deployment> {
  const programs = findServerPrograms()
  if (programs === undefined) throw new Error('PostgreSQL is not installed')
  const folder = temporaryDir()
  const [database, storage] = await Promise.all([startPair(programs), startStorage()])
  const keys = join(folder.path, 'keys')
  mkdirSync(keys)
  for (const name of ['signing.key', 'data.key'])
    writeFileSync(join(keys, name), `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 })
  const env = {
    KS_DAEMON_BACKEND: database.address,
    KS_DAEMON_OBJECTS: storage.address,
    KS_DAEMON_KEYS: keys,
    ...storage.env,
  }
  await execaNode('bin/ksd.js', ['migrate', '--data-dir', join(folder.path, 'none')], { env })
  const ports: number[] = []
  while (ports.length < MOST_GATEWAYS) ports.push(await freePort())
  const dataDir = (place: number) => join(folder.path, `gateway-${place}`)
  let token = ''

  const start = async (place: number) =>
    await startKsd(dataDir(place), ['--no-socket', '--listen', `127.0.0.1:${ports[place]}`], env)
  const gateway = async (place: number): Promise<Gateway> => {
    let running = await start(place)
    if (token === '') {
      const claims = { tenant: 'tenant-a', subject: 'ada', scopes: ['knowledge-spaces:*' as const] }
      token = (await createToken(dataDir(place), claims)).token
    }
    return {
      get process() {
        return running
      },
      client: new Client({ url: `http://127.0.0.1:${ports[place]}`, token }),
      async eventLoop() {
        const found = await findDaemon(dataDir(place))
        if (found === undefined) return undefined
        const operator = new Client(found.target)
        const status = await operator.request('GET /daemon/status', { query: { reset: 'true' } })
        operator.close()
        return status.eventLoop
      },
      async killed() {
        await running.end('SIGKILL')
        running = await start(place)
      },
    }
  }

  const all: Gateway[] = [await gateway(0)]
  all.push(...(await Promise.all(Array.from({ length: gateways - 1 }, (_, place) => gateway(place + 1)))))
  const balancerPort = await freePort()
  const configured = join(folder.path, 'haproxy.cfg')
  writeFileSync(configured, balancerConfig(balancerPort, ports))
  const balancer = spawn(HAPROXY, ['-q', '-f', configured], { stdio: 'ignore' })
  const client = new Client({ url: `http://127.0.0.1:${balancerPort}`, token })
  await until(async () => (await client.request('GET /health', {}).catch(() => undefined))?.ok === true, 60_000)
  return {
    database,
    storage,
    client,
    gateways: all,
    async join() {
      const joined = await gateway(all.length)
      all.push(joined)
      return joined
    },
    async end() {
      balancer.kill('SIGKILL')
      await Promise.all(all.map(({ process: running }) => running.end('SIGKILL')))
      await storage.end()
      database.stop()
      if (process.env['KS_CLUSTER_KEEP'] === '1') process.stdout.write(`kept: ${folder.path}\n`)
      else folder.remove()
    },
  }
}

/** The configuration for operators, with the addresses of this run. */
function balancerConfig(port: number, ports: readonly number[]): string {
  const given = readFileSync('deploy/haproxy.cfg', 'utf8')
  const servers = ports.map((one, place) => `  server gateway-${place} 127.0.0.1:${one} check`)
  return given
    .replace(/^ {2}log stdout.*$/m, '')
    .replace('bind :7733', `bind 127.0.0.1:${port}`)
    .replace(/^ {2}default-server init-addr.*$/m, '')
    .replace(/^ {2}server gateway-1 [\s\S]*$/m, `${servers.join('\n')}\n`)
}
