import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect as connectTo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { giveToServerUser, runAsServerUser } from '../helpers/postgres-server.js'
import { until } from '../helpers/until.js'
import { freePort } from '../helpers/whole-daemon.js'

const ADMIN = 'postgres'

/** A primary with synchronous commits to a standby, each on a separate port. */
export interface DatabasePair {
  /** both addresses, as a gateway gets them */
  address: string
  /** Kills the primary, promotes its standby, and starts a new standby for that. */
  failOver(): Promise<void>
  /** Suspends the primary, and resumes it. */
  pause(): void
  resume(): void
  ask<T extends object>(text: string): Promise<T[]>
  stop(): void
}

function isListening(port = 0): Promise<boolean> {
  const socket = connectTo(port, '127.0.0.1')
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  }).finally(() => socket.destroy())
}

/** @param programs folder of PostgreSQL's programs */
export async function startPair(programs: string): Promise<DatabasePair> {
  const root = mkdtempSync(join(tmpdir(), 'ks-pair-'))
  giveToServerUser(root)
  const ports = [await freePort(), await freePort()]
  const run = (program: string, ...args: string[]) => runAsServerUser(root, join(programs, program), args)
  const data = (at: number) => join(root, `data-${at}`)
  let primary = 0

  const start = async (at: number) => {
    // Backends of a killed server may occupy the port a moment longer.
    await until(async () => !(await isListening(ports[at])))
    const settings = {
      listen_addresses: '127.0.0.1',
      port: String(ports[at]),
      unix_socket_directories: root,
      wal_level: 'replica',
      max_wal_senders: '10',
      hot_standby: 'on',
      shared_buffers: '64MB',
      // A killed process loses nothing that it has written, synced or not.
      fsync: 'off',
    }
    const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)
    const log = join(root, `log-${at}`)
    try {
      run('pg_ctl', '-D', data(at), '-w', '-l', log, '-o', options.join(' '), 'start')
    } catch (error) {
      throw new Error(`a server did not start: ${readFileSync(log, 'utf8').slice(-2000)}`, { cause: error })
    }
  }
  const connect = async (at: number, database = 'postgres') => {
    const client = new pg.Client({ connectionString: `postgres://${ADMIN}@127.0.0.1:${ports[at]}/${database}` })
    await client.connect()
    return client
  }
  const follow = async (at: number) => {
    const of = 1 - at
    run(
      'pg_basebackup',
      '-h',
      '127.0.0.1',
      '-p',
      String(ports[of]),
      '-U',
      ADMIN,
      '-D',
      data(at),
      '-X',
      'stream',
      '-c',
      'fast',
      '-R',
    )
    await start(at)
    const client = await connect(of)
    await client.query("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'")
    await client.query('SELECT pg_reload_conf()')
    await client.end()
  }
  const signal = (name: NodeJS.Signals) => {
    const [pid] = readFileSync(join(data(primary), 'postmaster.pid'), 'utf8').split('\n')
    const { stdout } = spawnSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
    for (const one of [String(pid), ...stdout.split('\n').filter((line) => line !== '')])
      try {
        process.kill(Number(one), name)
      } catch {
        // This backend has ended already.
      }
  }

  run('initdb', '-D', data(0), '-E', 'UTF8', '--locale=C', '-A', 'trust', '-N', '-U', ADMIN)
  await start(0)
  const client = await connect(0)
  await client.query('CREATE ROLE ks LOGIN')
  await client.query('CREATE DATABASE ks OWNER ks')
  await client.end()
  await follow(1)
  return {
    address: `postgres://ks@127.0.0.1:${ports[0]},127.0.0.1:${ports[1]}/ks`,
    async failOver() {
      signal('SIGKILL')
      const before = primary
      primary = 1 - primary
      run('pg_ctl', '-D', data(primary), '-w', 'promote')
      removeFolder(data(before))
      // Until its parent has collected the killed process, its pid looks alive to readers of the socket's lock.
      for (const file of [`.s.PGSQL.${ports[before]}`, `.s.PGSQL.${ports[before]}.lock`])
        rmSync(join(root, file), { force: true })
      const promoted = await connect(primary)
      await promoted.query("ALTER SYSTEM SET synchronous_standby_names = ''")
      await promoted.query('SELECT pg_reload_conf()')
      await promoted.end()
      await follow(before)
    },
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    async ask(text) {
      const asking = await connect(primary, 'ks')
      const { rows } = await asking.query(text)
      await asking.end()
      return rows
    },
    stop() {
      for (const at of [0, 1])
        try {
          run('pg_ctl', '-D', data(at), '-m', 'immediate', 'stop')
        } catch {
          // It has ended already.
        }
      removeFolder(root)
    },
  }
}
