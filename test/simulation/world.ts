import { join } from 'node:path'
import { type BenchDaemon, isAlive, startDaemon } from '../../bench/lib/daemon.js'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { Client } from '../../src/client/client.js'
import { type FakeOpenAi, type Fault, startFakeOpenAi } from '../helpers/fake-openai.js'
import { signedToken } from '../helpers/tokens.js'
import { answerTo } from './chat-model.js'
import type { CrawledSite } from './crawled-site.js'
import { Moments, type Span } from './history.js'
import { TenantModel } from './model.js'

/** A result that the model does not allow. */
export interface Divergence {
  /** operation whose response showed it; `end` for the final comparison */
  operation: string
  expected: string
  found: string
}

/** Fills the disk while `work` runs. */
export interface FullDisk {
  full(work: () => Promise<void>): Promise<void>
}

const MARKERS = ['zqalphaz', 'zqbetaz']
/** A clock of the daemon that can be moved, with the necessary environment. */
export interface MovedClock {
  env: Record<string, string>
  setAhead(milliseconds: number): void
}

/** milliseconds between two words of the fake model */
const WORD_MS = 2
const TOKEN_SECONDS = 24 * 3600
/** time after a disturbance in which it still explains a refusal */
const AFTERMATH_MS = 5000
/** The fake models: one for the vectors of some spaces, one for the chat applications. */
export const EMBEDDING = { pluginId: 'openai-compatible', provider: 'stand-in', model: 'embedder' }
const TALKER = { pluginId: 'openai-compatible', provider: 'stand-in', model: 'talker' }

/** The daemon of one run, with its clients and the model. */
export class World {
  readonly moments = new Moments()
  readonly divergences: Divergence[] = []
  readonly tenants: TenantModel[]
  readonly dataDir: string
  /** milliseconds without progress after which work counts as stuck */
  stuckMs = 60_000
  /** number of responses of each operation, by name */
  readonly answered = new Map<string, number>()
  /** a separate disk that can be filled, where one could be mounted */
  readonly disk: FullDisk | undefined
  /** crawled web sites, by tenant */
  readonly sites = new Map<TenantModel, CrawledSite>()
  readonly #clock: MovedClock | undefined
  #models: FakeOpenAi | undefined
  /** times at which the disk was full or a provider failed, each with its end */
  readonly #troubles: Span[] = []
  #tokens: string[] = []
  readonly #chatKeys: string[] = []
  #chatClients: Client[] = []
  #clients: Client[] = []
  #daemon: BenchDaemon | undefined
  #back: Promise<void> = Promise.resolve()

  constructor(dataDir: string, disk?: FullDisk, clock?: MovedClock) {
    this.dataDir = dataDir
    this.disk = disk
    this.#clock = clock
    this.tenants = MARKERS.map((marker, place) => new TenantModel(`tenant-${place}`, marker))
  }

  async open(): Promise<void> {
    this.#models = await startFakeOpenAi({
      dimension: 16,
      deltaMs: WORD_MS,
      answer: (messages) => answerTo(messages.at(-1)?.content ?? ''),
    })
    await this.#start()
    // Valid on both sides of now, whatever the clock of the daemon shows.
    const now = Math.floor(Date.now() / 1000)
    const good = { sub: 'simulation', iat: now - TOKEN_SECONDS, exp: now + TOKEN_SECONDS }
    for (const { name } of this.tenants)
      this.#tokens.push(await signedToken(this.dataDir, { ...good, tenant: name, jti: name }))
    this.#connect()
    for (const client of this.#clients) this.#chatKeys.push(await makeChatApp(client))
    this.#connect()
  }

  get pid(): number {
    return this.#daemon?.pid ?? 0
  }

  /** The connection of a tenant to the running daemon; waits while there is none. */
  async client(tenant: number): Promise<Client> {
    await this.#back
    const client = this.#clients[tenant]
    if (client === undefined) throw new Error('no daemon runs')
    return client
  }

  /** The same for the chat application of a tenant. */
  async chatClient(tenant: number): Promise<Client> {
    await this.#back
    const client = this.#chatClients[tenant]
    if (client === undefined) throw new Error('no daemon runs')
    return client
  }

  /** Runs `work` while a full disk or a provider may cause refusals. */
  async trouble(work: () => Promise<void>): Promise<void> {
    const trouble = { from: this.moments.next(), to: Number.POSITIVE_INFINITY }
    this.#troubles.push(trouble)
    try {
      await work()
    } finally {
      setTimeout(() => {
        trouble.to = this.moments.next()
      }, AFTERMATH_MS).unref()
    }
  }

  /** Whether a full disk or a provider may explain a refusal in this span. */
  wasTroubled({ from, to }: Span): boolean {
    return this.#troubles.some((trouble) => trouble.from < to && from < trouble.to)
  }

  /** Moves the clock of the daemon, if possible. */
  moveClock(milliseconds: number): void {
    this.#clock?.setAhead(milliseconds)
  }

  /** Makes every request to the models fail while `work` runs. */
  async outage(fault: Fault, work: () => Promise<void>): Promise<void> {
    this.#models?.always(fault)
    try {
      await this.trouble(work)
    } finally {
      this.#models?.always()
    }
  }

  /** Ends the daemon and starts it again; callers wait meanwhile. */
  restart(how: 'kill' | 'stop', between: () => Promise<void> = async () => undefined): Promise<void> {
    const daemon = this.#daemon
    if (daemon === undefined) throw new Error('no daemon runs')
    this.#back = (async () => {
      await daemon[how]()
      this.#disconnect()
      await between()
      await this.#start()
      this.#connect()
    })()
    return this.#back
  }

  /** A connection broke: waits for a running daemon, and reports a crash. */
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
    this.#disconnect()
    await this.#daemon?.kill()
    this.#daemon = undefined
    await this.#models?.close()
    for (const site of this.sites.values()) await site.close()
  }

  dropIndexes(): void {
    removeFolder(join(this.dataDir, 'indexes'))
  }

  async #start(): Promise<void> {
    const provider = { pluginId: TALKER.pluginId, provider: TALKER.provider, baseUrl: `${this.#models?.url}/v1` }
    // Responses are checked against the contract, too.
    const env = {
      KS_CHECK_RESPONSES: '1',
      KS_DAEMON_EGRESS_ALLOW: '127.0.0.2',
      KS_DAEMON_PROVIDERS: JSON.stringify([provider]),
      ...this.#clock?.env,
    }
    this.#daemon = await startDaemon(this.dataDir, env)
  }

  #connect(): void {
    const url = this.#daemon?.url ?? ''
    this.#clients = this.#tokens.map((token) => new Client({ url, token }))
    this.#chatClients = this.#chatKeys.map((token) => new Client({ url, token }))
  }

  #disconnect(): void {
    for (const client of [...this.#clients, ...this.#chatClients]) client.close()
  }
}

/** @returns the key of a new application with the fake model */
async function makeChatApp(client: Client): Promise<string> {
  const app = await client.request('POST /chat-apps', { body: { name: 'Simulated', model: TALKER } })
  const { key } = await client.request('POST /chat-apps/{appId}/keys', { path: { appId: app.id } })
  if (key === null) throw new Error('an application was made without a key')
  return key
}
