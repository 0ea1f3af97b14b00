import { setTimeout as sleep } from 'node:timers/promises'

/** Asks again and again until the answer is yes. @throws when it is still no after `timeoutMs` */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  const end = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`still not so after ${timeoutMs} ms`)
    await sleep(20)
  }
}
