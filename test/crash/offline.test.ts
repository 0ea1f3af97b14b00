import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execaSync } from 'execa'
import { afterAll, expect, test } from 'vitest'
import { KS, privateEnv, runProgram, temporaryFolder } from '../../bench/lib/daemon.js'

const home = temporaryFolder('offline')
const dataDir = join(home.path, 'data')

/** A network namespace with loopback only. */
const INSIDE = ['-rn', 'sh', '-euc']
const canUnshare = !execaSync('unshare', [...INSIDE, 'ip link set lo up'], { reject: false }).failed
if (!canUnshare) process.stdout.write('skipped: no network namespace can be made here (unshare -rn, ip)\n')

afterAll(() => {
  home.remove()
})

test.skipIf(!canUnshare)('a space can be created, filled and queried with loopback as the only network', async () => {
  const docs = join(home.path, 'docs')
  mkdirSync(docs)
  writeFileSync(join(docs, 'bees.md'), '# Bees\n\nA honey bee colony has one queen and thousands of workers.\n')
  writeFileSync(join(docs, 'ants.md'), '# Ants\n\nAnts build nests of soil and follow scent trails to food.\n')
  const ks = `"${process.execPath}" "${KS}"`
  const session = `
    ip link set lo up
    ${ks} spaces create Animals --slug animals >/dev/null
    ${ks} ingest "${docs}" --space animals --wait >/dev/null
    ${ks} query "how many queens has a bee colony?" --space animals --json
    ${ks} daemon stop >/dev/null`
  const result = await runProgram('unshare', [...INSIDE, session], privateEnv(dataDir))
  expect(result.stderr + result.stdout, 'the session').toContain('one queen')
  expect(result.code).toBe(0)
  const answer = JSON.parse(result.stdout)
  expect(answer.citations.length).toBeGreaterThan(0)
})
