import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type BenchDaemon, isAlive, startDaemon } from '../../bench/lib/daemon.js'
import { Client } from '../../src/client/client.js'
import { createToken } from '../../src/local/keys.js'
import { Moments } from './history.js'
import { TenantModel } from './model.js'

/** Something that the model does not allow. */
export interface Divergence {
  /** of the operation in whose answer it showed; `end` for the comparison at the end */
  operation: string
  expected: string
  found: string
}

/** Fills the disk for as long as `work` takes. */
export interface FullDisk {
  full(work: () => Promise<void>): Promise<void>
}

const MARKERS = ['zqalphaz', 'zqbetaz']
/** answers are checked against the contract too */
const DAEMON_ENV = { KS_CHECK_RESPONSES: '1' }

/** The daemon of one run, with those who use it and what they know. */
export class World {
  readonly moments = new Moments()
  readonly divergences: Divergence[] = []
  readonly tenants: TenantModel[]
  readonly dataDir: string
  /** milliseconds without anything that moves on, after which work counts as stuck */
  stuckMs = 60_000
  /** times that an operation was answered, by name */
  readonly answered = new Map<string, number>()
  /** a disk of its own that can be filled, where one could be mounted */
  readonly disk: FullDisk | undefined
  #tokens: string[] = []
  #clients: Client[] = []
  #daemon: BenchDaemon | undefined
  #back: Promise<void> = Promise.resolve()

  constructor(dataDir: string, disk?: FullDisk) {
    this.dataDir = dataDir
    this.disk = disk
    this.tenants = MARKERS.map((marker, place) => new TenantModel(`tenant-${place}`, marker))
  }

  async open(): Promise<void> {
    await this.#start()
    const scopes = ['knowledge-spaces:*'] as const
    for (const { name } of this.tenants)
      this.#tokens.push((await createToken(this.dataDir, { tenant: name, subject: 'simulation', scopes })).token)
    this.#connect()
  }

  get pid(): number {
    return this.#daemon?.pid ?? 0
  }

  /** The connection of a tenant to the daemon as it runs now; waits while there is none. */
  async client(tenant: number): Promise<Client> {
    await this.#back
    const client = this.#clients[tenant]
    if (client === undefined) throw new Error('no daemon runs')
    return client
  }

  /** Ends the daemon and starts it again; whoever asks meanwhile waits. */
  restart(how: 'kill' | 'stop', between: () => Promise<void> = async () => undefined): Promise<void> {
    const daemon = this.#daemon
    if (daemon === undefined) throw new Error('no daemon runs')
    this.#back = (async () => {
      await daemon[how]()
      for (const client of this.#clients) client.close()
      await between()
      await this.#start()
      this.#connect()
    })()
    return this.#back
  }

  /** A connection broke: waits until there is a daemon again, and says so when it went by itself. */
  async recover(): Promise<void> {
    const before = this.#daemon
    await this.#back
    if (before === undefined || before !== this.#daemon || isAlive(before.pid)) return
    this.diverge('daemon', 'a daemon that runs until it is told to end', `process ${before.pid} is gone`)
    this.#back = (async () => {
      await this.#start()
      this.#connect()
    })()
    await this.#back
  }

  diverge(operation: string, expected: string, found: string): void {
    this.divergences.push({ operation, expected, found })
  }

  async close(): Promise<void> {
    await this.#back.catch(() => undefined)
    for (const client of this.#clients) client.close()
    await this.#daemon?.kill()
    this.#daemon = undefined
  }

  dropIndexes(): void {
    rmSync(join(this.dataDir, 'indexes'), { recursive: true, force: true })
  }

  async #start(): Promise<void> {
    this.#daemon = await startDaemon(this.dataDir, DAEMON_ENV, process.env['KS_SIMULATED_DAEMON'])
  }

  #connect(): void {
    const url = this.#daemon?.url ?? ''
    this.#clients = this.#tokens.map((token) => new Client({ url, token }))
  }
}
