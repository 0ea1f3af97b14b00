import { join } from 'node:path'
import { until } from '../../helpers/until.js'
import type { World } from './world.js'

/** Objects that examples name, created if missing. */

export const QUESTION = 'Who is on call in August?'
/** a question without an answer in the documents */
export const LOST = 'Who conducts the orchestra of the opera?'

export interface Named {
  id: string
  slug?: string
  name?: string
}

/** The space of a line. */
export const spaceOf = (line: string) => /(?<=--space )[a-z-]+/.exec(line)?.[0] ?? 'example-space'

export async function json<T>(world: World, ...args: string[]): Promise<T> {
  return JSON.parse(await world.ks(...args, '--json'))
}

const spaces = (world: World) => world.http<{ items: Named[] }>('GET', '/knowledge-spaces?limit=100')

export async function spaceId(world: World, slug: string): Promise<string | undefined> {
  return (await spaces(world)).items.find((one) => one.slug === slug)?.id
}

/** A space with documents, created or filled if necessary. */
export async function space(world: World, slug: string): Promise<string> {
  const known = await spaceId(world, slug)
  if (known !== undefined) {
    const { items } = await world.http<{ items: unknown[] }>('GET', `/knowledge-spaces/${known}/documents?limit=1`)
    if (items.length > 0) return known
  }
  await world.ks('ingest', 'corpus', '--space', slug, '--create', '--wait', '-q')
  return (await spaceId(world, slug)) ?? ''
}

export async function noSpace(world: World, slug: string): Promise<void> {
  const id = await spaceId(world, slug)
  if (id !== undefined) await world.http('DELETE', `/knowledge-spaces/${id}`)
}

/** The document of this name in the example space, uploaded again if it was deleted. */
export async function documentOf(world: World, name: string): Promise<string> {
  const id = await space(world, 'example-space')
  const find = async () => {
    const path = `/knowledge-spaces/${id}/documents?limit=100`
    const { items } = await world.http<{ items: { id: string; filename: string }[] }>('GET', path)
    return items.find(({ filename }) => filename.endsWith(name))?.id
  }
  const known = await find()
  if (known !== undefined) return known
  await world.ks('ingest', 'corpus', '--space', 'example-space', '--wait', '-q')
  return (await find()) ?? ''
}

export async function ask(world: World, question: string, slug = 'example-space'): Promise<string> {
  return (await json<{ traceId: string }>(world, 'query', question, '--space', slug)).traceId
}

/** The passage that answers the question. */
export async function passage(world: World, slug = 'example-space'): Promise<string> {
  if (slug === 'example-space') await documentOf(world, 'on-call.md')
  const found = await json<{ nodeId: string }[]>(world, 'search', QUESTION, '--space', slug)
  return found[0]?.nodeId ?? ''
}

export async function job(world: World): Promise<string> {
  const jobs = await json<(Named & { stage: string })[]>(world, 'jobs', 'example-space')
  return jobs.find(({ stage }) => stage === 'published')?.id ?? ''
}

export async function source(world: World, line: string): Promise<string> {
  const files = world.home.file('work/keys.json', JSON.stringify(world.s3.metadata['credentials']))
  const add = (...how: string[]) => json<Named>(world, 'sources', 'add', 'Place', '--space', 'example-space', ...how)
  if (/--pages|sources import .*(docs\/|--all)/.test(line)) {
    const keys = world.home.file('work/git.json', JSON.stringify(world.git.metadata['credentials']))
    const how = ['--type', 'connector', '--provider', 'git', '--uri', world.git.uri, '--credentials-file', keys]
    return (await add(...how)).id
  }
  if (/--files|sources import .*notes\//.test(line)) {
    const how = ['--type', 'object-storage', '--provider', 's3', '--uri', world.s3.uri, '--credentials-file', files]
    return (await add(...how)).id
  }
  return (await add('--uri', `${world.site.url}/handbook/`)).id
}

export async function research(world: World, line: string): Promise<string> {
  if (!line.includes('cancel')) {
    const task = await json<Named>(world, 'research', 'start', 'compare the two gauges', '--space', 'example-space')
    await until(async () => 'completedAt' in (await world.http<object>('GET', `/research-tasks/${task.id}`)))
    return task.id
  }
  await space(world, 'slow')
  await world.ks('spaces', 'update', 'slow', '--reasoning-model', 'openai-compatible/slow/writer')
  return (await json<Named>(world, 'research', 'start', 'compare the two gauges', '--space', 'slow')).id
}

const EQUIPPED = 'has what every example needs'

/** An application with all features; other examples do not change it. */
export async function app(world: World, name: string): Promise<void> {
  const { items } = await world.http<{ items: (Named & { description: string })[] }>('GET', '/chat-apps?limit=100')
  if (items.some((one) => one.name === name && one.description === EQUIPPED)) return
  await noApp(world, name)
  await space(world, 'handbook')
  const variables = join(world.home.dir, 'work/variables.yaml')
  const does = [
    '--text-to-speech',
    '--speech-to-text',
    '--vision',
    '--documents',
    '--suggest',
    '--variables',
    variables,
  ]
  const model = ['--model', 'openai-compatible/local/chat']
  const words = ['--space', 'handbook', '--description', EQUIPPED, '--use', ...model, ...does]
  await world.kchat('apps', 'create', name, ...words)
}

export async function noApp(world: World, name: string): Promise<void> {
  const { items } = await world.http<{ items: Named[] }>('GET', '/chat-apps?limit=100')
  for (const one of items) if (one.name === name) await world.http('DELETE', `/chat-apps/${one.id}`)
}

interface Turn {
  message_id: string
  conversation_id: string
  task_id: string
}

export async function turn(world: World): Promise<Turn> {
  return JSON.parse(await world.kchat('send', 'When does the shop open?', '--json'))
}

export async function chatSubject(world: World, line: string): Promise<string> {
  const made = async (...args: string[]) => JSON.parse(await world.kchat(...args, '--json'))
  if (line.includes('annotations ')) return (await made('annotations', 'add', '--question', line, '--answer', 'So.')).id
  if (line.includes('annotation-reply')) return (await made('annotation-reply', 'enable', '--wait')).job_id
  if (line.includes('keys revoke')) return (await made('apps', 'keys', 'create', 'Handbook')).id
  if (line.includes('preview')) {
    const image = join(world.home.dir, 'work/photo.jpg')
    const { conversation_id } = await made('send', 'What is this?', '--image', image)
    const [message] = await made('history', conversation_id)
    return message.message_files[0].upload_file_id
  }
  const { message_id, conversation_id, task_id } = await turn(world)
  if (/history|conversations/.test(line)) return conversation_id
  return line.includes(' stop ') ? task_id : message_id
}
