import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createSampleFiles } from '../../../bench/lib/hostile/files.js'
import { readDamaged } from '../../../bench/lib/hostile/read-damaged.js'
import { removeFolder } from '../../../bench/lib/removed-folder.js'

/** Number of damaged files of each format; `npm run bench:reading -- damaged` reads 200. */
const EACH = Number(process.env.KS_HOSTILE_EACH ?? 12)
const SEED = Number(process.env.KS_HOSTILE_SEED ?? 7)

const folder = mkdtempSync(join(tmpdir(), 'ks-hostile-kinds-'))
afterAll(() => removeFolder(folder))

it(`${EACH} damaged files of each format (seed ${SEED}) are read or fail with a reason, and none crashes or hangs`, {
  timeout: 900_000,
}, async () => {
  const outcomes = await readDamaged(await createSampleFiles(), { copies: EACH, seed: SEED, folder })
  expect(
    outcomes.flatMap(({ crashed, overLimit, unexpected, unexplained }) =>
      [crashed, overLimit, unexpected, unexplained].flat(),
    ),
  ).toEqual([])
  for (const { name, read, rejected } of outcomes) expect([name, read + rejected]).toEqual([name, EACH])
})
