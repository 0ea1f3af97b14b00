import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { getValueAt, listLeafPaths } from '../../src/cli/columns.js'
import { ChatAppUpdate } from '../../src/contract/chat/apps.js'
import { cliHome } from '../helpers/cli.js'

const home = cliHome()
const provider = { pluginId: 'command', provider: 'local' }

beforeAll(async () => {
  const speech = { argv: ['cat'] }
  const providers = [{ ...provider, speech, transcription: { argv: ['cat', '{input}'] } }]
  const chat = { pluginId: 'openai-compatible', provider: 'near', baseUrl: 'http://127.0.0.1:9/v1' }
  home.file('data/config.json', JSON.stringify({ providers: [...providers, chat] }))
  expect((await home.ks(['config', '--allow-programs', '--yes'])).code).toBe(0)
  home.file('form.yaml', 'title: [\n')
  home.file(
    'controls.yaml',
    '- text-input:\n    label: City\n    variable: city\n- select: {label: Tone, variable: tone, options: [plain, warm]}\n',
  )
  home.file('variables.yaml', '- { name: visits, valueType: number, default: 1 }\n')
  home.file('words.txt', 'secret\n\nhidden\n')
  for (const name of ['Handbook', 'Notes']) expect((await home.ks(['spaces', 'create', name])).code).toBe(0)
})
afterAll(() => home.end())

const apps = (...words: string[]) => home.kchat(['apps', ...words])
const made = async (...words: string[]) => {
  const run = await apps(...words, '--json')
  expect(run, run.stderr).toMatchObject({ code: 0 })
  return JSON.parse(run.stdout)
}

/** an option for every field */
const EVERY = [
  '--name',
  'Guide',
  '--description',
  'Opening hours',
  '--tag',
  'shop',
  '--tag',
  'hours',
  '--no-enabled',
  '--upload-status',
  '201',
  '--max-concurrent',
  '4',
  '--space',
  'handbook',
  '--space',
  'notes',
  '--mode',
  'agent-chat',
  '--model',
  'openai-compatible/near/talker',
  '--instructions',
  'Be brief, {{city}}.',
  '--temperature',
  '0.3',
  '--max-tokens',
  '200',
  '--no-citations',
  '--prompt-price',
  '0.001',
  '--completion-price',
  '0.002',
  '--price-unit',
  '0.01',
  '--currency',
  'EUR',
  '--opening',
  'Welcome.',
  '--question',
  'When?',
  '--suggest',
  '--variables',
  'variables.yaml',
  '--form',
  'controls.yaml',
  '--site',
  'title=Guide',
  '--site',
  'show_workflow_steps=true',
  '--sensitive-words',
  'words.txt',
  '--sensitive-word',
  'else',
  '--input-response',
  'No.',
  '--output-response',
  'Hm.',
  '--vision',
  '--images',
  '2',
  '--image-detail',
  'low',
  '--image-transfer',
  'local_file',
  '--documents',
  '--max-documents',
  '2',
  '--speech-to-text',
  '--speech-to-text-model',
  'command/local/ears',
  '--speech-to-text-language',
  'de',
  '--text-to-speech',
  '--text-to-speech-model',
  'command/local/mouth',
  '--text-to-speech-language',
  'fr',
  '--voice',
  'anna',
  '--auto-play',
]

describe('kchat apps', () => {
  it('offers an option for every field of an application', async () => {
    const before = await made('create', 'Everything')
    const after = await made('update', 'Everything', ...EVERY)
    const fields = [...new Set([...listLeafPaths(before), ...listLeafPaths(after)])]
    expect(new Set(fields.map((field) => field.split('.')[0]))).toEqual(
      new Set([...Object.keys(ChatAppUpdate.shape), 'id', 'createdAt', 'updatedAt']),
    )
    const same = fields.filter(
      (field) => JSON.stringify(getValueAt(before, field)) === JSON.stringify(getValueAt(after, field)),
    )
    expect(same.sort()).toEqual(['createdAt', 'id'])
    expect(after).toMatchObject({
      sensitiveWords: {
        enabled: true,
        words: ['secret', 'hidden', 'else'],
        inputs: { enabled: true, response: 'No.' },
      },
      site: { title: 'Guide', show_workflow_steps: true },
      conversationVariables: [{ name: 'visits', valueType: 'number', description: '', default: 1 }],
      userInputForm: [{ 'text-input': { variable: 'city' } }, { select: { options: ['plain', 'warm'] } }],
    })
  })

  it('shows every field of an application, even unset fields', async () => {
    await made('create', 'Plain')
    const { stdout } = await apps('show', 'Plain', '--format', 'table')
    for (const field of Object.keys(ChatAppUpdate.shape)) expect(stdout).toMatch(new RegExp(`^${field}\\b`, 'm'))
  })

  it('changes single values of a field that the service replaces as a unit', async () => {
    const changed = await made('update', 'Guide', '--no-temperature', '--currency', 'CHF', '--site', 'icon=📘')
    expect(changed).toMatchObject({ prices: { promptUnitPrice: '0.001', currency: 'CHF' } })
    expect(changed.modelSettings).toEqual({ maxTokens: 200 })
    expect(changed.site).toEqual({ title: 'Guide', show_workflow_steps: true, icon: '📘' })
    const words = await made('update', 'Guide', '--no-input-response', '--sensitive-word', 'new')
    expect(words.sensitiveWords).toEqual({
      enabled: true,
      words: ['new'],
      inputs: { enabled: false, response: '' },
      outputs: { enabled: true, response: 'Hm.' },
    })
  })

  it('removes each field with its `--no-…` option', async () => {
    const gone = await made(
      'update',
      'Guide',
      '--no-space',
      '--no-model',
      '--no-prices',
      '--no-question',
      '--no-form',
      '--no-site',
      '--no-sensitive-words',
      '--no-tag',
      '--no-variables',
      '--no-max-tokens',
      '--no-text-to-speech-model',
    )
    expect(gone).toMatchObject({
      knowledgeSpaceIds: [],
      model: null,
      prices: null,
      suggestedQuestions: [],
      userInputForm: [],
      site: {},
      conversationVariables: [],
      tags: [],
      modelSettings: {},
      sensitiveWords: { enabled: false },
      textToSpeech: { model: null, voice: 'anna' },
    })
  })

  it('updates and creates applications from the output of show', async () => {
    const { stdout } = await apps('show', 'Guide', '--json')
    home.file('guide.json', stdout)
    await made('update', 'Guide', ...EVERY.slice(2))
    const { updatedAt: _, ...whole } = await made('update', 'Guide', '--from', 'guide.json')
    expect(JSON.parse(stdout)).toMatchObject(whole)
    const copy = await made('create', 'Copy', '--from', 'guide.json', '--voice', 'bert')
    expect(copy).toMatchObject({ name: 'Copy', textToSpeech: { ...whole.textToSpeech, voice: 'bert' } })
    const piped = await home.kchat(['apps', 'create', '--from', '-', '--json'], {
      stdin: JSON.stringify({ ...JSON.parse(stdout), name: 'Piped' }),
    })
    expect(JSON.parse(piped.stdout)).toMatchObject({ name: 'Piped', description: 'Opening hours' })
    // The key of each application is stored under its name.
    const { apps: keys } = JSON.parse(readFileSync(join(home.dir, 'config/chat-keys.json'), 'utf8'))
    expect(Object.keys(keys)).toEqual(expect.arrayContaining(['Copy', 'Piped']))
  })

  it('makes a new key the current key only with --use if there is one, and prints which key is current', async () => {
    const current = () => JSON.parse(readFileSync(join(home.dir, 'config/chat-keys.json'), 'utf8')).current
    const before = current()
    const other = await home.kchat(['apps', 'create', 'Other', '--json'])
    expect(current()).toBe(before)
    expect(other.stderr).toContain(`${JSON.stringify(before)} stays the current key: \`kchat use Other\` changes that.`)
    const used = await home.kchat(['apps', 'create', 'Used', '--use', '--json'])
    expect(current()).toBe('Used')
    expect(used.stderr).toContain('Stored a key as "Used". It is the current key')
    const again = await home.kchat(['apps', 'create', 'Other'])
    expect(again.stderr).toContain('Replaced the key that was stored as "Other".')
    expect(current()).toBe('Used')
  })

  it('explains what is wrong with its arguments', async () => {
    const wrong: [string[], RegExp][] = [
      [['update', 'Guide'], /no field to change is given/],
      [['update', 'Guid', '--vision'], /there is no application "Guid"\nhint: did you mean `Guide`/],
      [['create'], /needs a name/],
      [['create', 'A', '--temperature', 'warm'], /--temperature must be a number, received "warm"/],
      [['create', 'A', '--temperature', '7'], /temperature/],
      [['create', 'A', '--from', 'nowhere.json'], /--from cannot be read/],
      [['create', 'A', '--form', 'form.yaml'], /"form.yaml" is not valid YAML/],
      [['create', 'A', '--from', 'words.txt'], /"words.txt" is not valid JSON/],
      [['create', 'A', '--from', 'controls.yaml'], /must be a file with one application/],
      [['create', 'A', '--form', '-', '--from', '-'], /only one option can read stdin, not --from and --form/],
      [['create', 'A', '--site', 'title'], /--site must be key=value/],
      [['create', 'A', '--model', 'talker'], /--model must be plugin\/provider\/model/],
      [['create', 'A', '--space', 'handbok'], /did you mean `handbook`/],
      [['create', 'A', '--input-response', ''], /needs a response/],
    ]
    for (const [words, message] of wrong) {
      const run = await apps(...words)
      expect([words, run.code === 0, run.stdout, run.stderr]).toEqual([
        words,
        false,
        '',
        expect.stringMatching(message),
      ])
    }
    expect((await apps()).stdout).not.toContain('\tA\t')
  })
})
