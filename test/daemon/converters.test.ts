import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { bodyOf } from '../helpers/daemon.js'
import { createPathWithout } from '../helpers/path-without.js'
import { until } from '../helpers/until.js'
import { createFolder, type SettingValues, startWholeDaemon, stopAllDaemons } from '../helpers/whole-daemon.js'

const LONG_MS = 120_000
/** neither text nor a known format */
const BYTES = Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 7919) % 251))

afterEach(stopAllDaemons)

interface Document {
  parserStatus: string
  metadata: { error?: { message: string }; convertedBy?: string }
}

/** Uploads a file of a type without a reader. @returns the outcome */
async function ingested(settings: SettingValues): Promise<Document | undefined> {
  const { call } = await startWholeDaemon(settings)
  const { id } = await bodyOf<{ id: string }>(
    await call('POST', '/knowledge-spaces', { json: { name: 'N', slug: 'n' } }),
  )
  await call('POST', `/knowledge-spaces/${id}/documents`, { form: { file: new File([BYTES], 'letter.wxz') } })
  const documents = async () =>
    (await bodyOf<{ items: Document[] }>(await call('GET', `/knowledge-spaces/${id}/documents`))).items
  await until(async () => (await documents())[0]?.parserStatus !== 'pending', LONG_MS)
  return (await documents())[0]
}

it('a configured converter makes an unreadable type readable; without it such a file is refused', {
  timeout: LONG_MS,
}, async () => {
  const program = join(createFolder(), 'converter.cjs')
  writeFileSync(program, "process.stdout.write('# Letter\\n\\nThe ferry sails at nine.\\n')")
  expect(await ingested({})).toMatchObject({ parserStatus: 'failed' })
  const argv = [process.execPath, program, '{input}']
  expect(await ingested({ converters: [{ types: ['wxz'], argv }] })).toMatchObject({ parserStatus: 'parsed' })
})

it('a converter without confinement starts only if unconfinedPrograms allows it', {
  timeout: LONG_MS,
}, async () => {
  const program = join(createFolder(), 'converter.cjs')
  writeFileSync(program, "process.stdout.write('# Letter\\n\\nThe ferry sails at nine.\\n')")
  const converters = [{ types: ['wxz'], argv: [process.execPath, program, '{input}'] }]
  const path = process.env.PATH
  process.env.PATH = createPathWithout(['bwrap', 'unshare'], join(createFolder(), 'bin'))
  try {
    const refused = await ingested({ converters })
    expect(refused).toMatchObject({ parserStatus: 'failed' })
    expect(await ingested({ converters, unconfinedPrograms: true })).toMatchObject({ parserStatus: 'parsed' })
  } finally {
    process.env.PATH = path
  }
})

it('a converter without an input or without types is an invalid setting', async () => {
  await expect(startWholeDaemon({ converters: [{ types: ['doc'], argv: ['soffice'] }] })).rejects.toThrow(
    /argv with an argument \{input\}/,
  )
  await expect(startWholeDaemon({ converters: [{ argv: ['soffice', '{input}'] }] })).rejects.toThrow(/types as a list/)
})
