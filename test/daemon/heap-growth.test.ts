import { execaSync } from 'execa'
import { describe, expect, it } from 'vitest'

const MODULE = new URL('../../dist/daemon/heap-growth.js', import.meta.url).href

/** Keeps 300,000 objects, creates as many short-lived ones, and prints the maximal heap size. */
const PROGRAM = `
  const alive = Array.from({ length: 300_000 }, (_, place) => ({ place, name: 'x' + place }))
  let passing = []
  let most = 0
  for (let round = 0; round < 2000; round++) {
    for (let place = 0; place < 500; place++) passing.push({ round, place, names: ['a' + place] })
    if (passing.length > 40_000) passing = passing.slice(20_000)
    if (round % 20 > 0) continue
    await new Promise(setImmediate)
    most = Math.max(most, process.memoryUsage().heapUsed)
  }
  console.log(alive.length > 0 ? most : 0)
`

function largestHeap(before: string): number {
  const args = ['--max-semi-space-size=4', '--input-type=module', '-e', `${before}\n${PROGRAM}`]
  return Number(execaSync(process.execPath, args).stdout)
}

describe('the heap of the daemon', () => {
  it('stays below 80 % of the default heap with early collection', () => {
    const early = largestHeap(
      `const { enableEarlyCollection } = await import(${JSON.stringify(MODULE)}); enableEarlyCollection()`,
    )
    expect(early).toBeLessThan(0.8 * largestHeap(''))
  })
})
