/** Runs before each test file: defines what the switched mutants ask, and says at its end which were reached. */
import { appendFileSync } from 'node:fs'
import { afterAll, expect } from 'vitest'

const active = Number(process.env.MUTATE_ACTIVE)
const reachedFile = process.env.MUTATE_REACHED ?? ''
const reached = new Set()

/** Only a run without an active mutant says what it reached. */
globalThis.__mutant =
  active > 0
    ? (/** @type {number} */ id) => id === active
    : (/** @type {number} */ id) => {
        reached.add(id)
        return false
      }

afterAll(() => {
  if (active > 0 || reachedFile === '') return
  appendFileSync(reachedFile, `${JSON.stringify({ test: expect.getState().testPath, reached: [...reached] })}\n`)
})
