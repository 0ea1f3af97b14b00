import { setTimeout as sleep } from 'node:timers/promises'

/** Polls until the condition holds. @throws if it still fails after `timeoutMs` */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  const end = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`the condition does not hold after ${timeoutMs} ms`)
    await sleep(20)
  }
}
