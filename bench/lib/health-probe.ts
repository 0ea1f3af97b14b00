/**
 * Asks a daemon for its health over and over, in a process of its own that does nothing else, and tells the longest
 * answer: how long the daemon was busy with something else. `fork`ed by `startProbe`.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { startForked, stopForked } from './forked.js'

/** The longest answer since the last look, and how many there were. */
export interface Stall {
  longestMs: number
  answers: number
}

export interface Probe {
  /** what was seen since the last look, and begins anew */
  take(): Promise<Stall>
  stop(): Promise<void>
}

/** between an answer and the next request */
const PAUSE_MS = 2

/** Starts a probe of `url`, with a clean environment whose home is `home`. */
export async function startProbe(url: string, home: string): Promise<Probe> {
  const child = await startForked(import.meta.url, ['probe', `${url}/health`], home)
  return {
    take: () => taken(child),
    stop: () => stopForked(child),
  }
}

async function taken(child: ChildProcess): Promise<Stall> {
  child.send('take')
  const [stall] = await once(child, 'message')
  return stall
}

async function probe(url: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let seen: Stall = { longestMs: 0, answers: 0 }
  let since = 0
  process.on('message', () => {
    // an answer that is still waited for counts as far as it has taken
    const longestMs = Math.max(seen.longestMs, performance.now() - since)
    process.send?.({ ...seen, longestMs })
    seen = { longestMs: 0, answers: 0 }
  })
  process.on('disconnect', () => process.exit(0))
  for (let first = true; ; first = false) {
    since = performance.now()
    await answered(url, agent)
    const ms = performance.now() - since
    if (first) process.send?.('ready')
    else seen = { longestMs: Math.max(seen.longestMs, ms), answers: seen.answers + 1 }
    since = performance.now()
    await sleep(PAUSE_MS)
  }
}

function answered(url: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume()
      response.on('end', resolve)
    }).on('error', reject)
  })
}

if (process.argv[2] === 'probe') await probe(process.argv[3] ?? '')
