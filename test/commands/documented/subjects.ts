import { appendFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { resolveDataLayout } from '../../../src/local/layout.js'
import { until } from '../../helpers/until.js'
import {
  app,
  ask,
  chatSubject,
  documentOf,
  job,
  json,
  LOST,
  type Named,
  noApp,
  noSpace,
  passage,
  QUESTION,
  research,
  source,
  space,
  spaceOf,
  turn,
} from './made.js'
import type { World } from './world.js'

/** Placeholders of examples and their values. */
export type Swaps = Record<string, string>

interface Need {
  /** lines that need it */
  when: RegExp
  make: (world: World, line: string) => Promise<Swaps>
}

const ID = '#a1b2c3d4'
const OTHER_ID = '#9f31c2aa'
const UUID = '018f22aa-0000-7000-8000-000000000001'

/** Creates what a line needs, and returns the values of its placeholders. */
export async function prepare(world: World, line: string): Promise<Swaps> {
  const swaps: Swaps = {
    'https://example.com': world.site.url,
    'https://kb.example.com': await world.url(),
    's3://example-bucket/notes/': world.s3.uri,
  }
  await space(world, spaceOf(line))
  for (const { when, make } of NEEDS) if (when.test(line)) Object.assign(swaps, await make(world, line))
  return swaps
}

export function swapped(line: string, swaps: Swaps): string {
  // Longest first: one address is a prefix of another.
  const known = Object.entries(swaps).sort(([a], [b]) => b.length - a.length)
  return known.reduce((text, [from, to]) => text.replaceAll(from, to), line)
}

const bundleFile = (world: World) => join(world.home.dir, 'work', 'example-space.tar')

/** Whether a deleted space still has rows. */
function isRemoving(world: World): boolean {
  const sqlite = new Sqlite(resolveDataLayout(world.home.dataDir).database, { readonly: true })
  const row = sqlite.prepare('SELECT 1 FROM spaces WHERE deleted_at IS NOT NULL LIMIT 1').get()
  sqlite.close()
  return row !== undefined
}

const NEEDS: readonly Need[] = [
  {
    when: /alias ask --delete/,
    make: async (world) => {
      await world.shell("ks alias ask 'query $1'")
      return {}
    },
  },
  {
    when: /bundle export/,
    make: async (world) => {
      await space(world, 'example-space')
      await space(world, 'notes')
      rmSync(bundleFile(world), { force: true })
      return {}
    },
  },
  {
    // The imported space must not exist.
    when: /bundle import/,
    make: async (world) => {
      await noSpace(world, 'another-name')
      await space(world, 'example-space')
      await world.ks('bundle', 'export', 'example-space', '--out', bundleFile(world), '--force')
      await noSpace(world, 'example-space')
      await until(() => !isRemoving(world))
      return {}
    },
  },
  {
    // An alias of an earlier example does not apply here.
    when: /ks models test/,
    make: async (world) => {
      await world.ks('config', 'providers', '[]', '--daemon')
      return {}
    },
  },
  {
    when: /spaces create |slug=example-space/,
    make: async (world, line) => {
      await noSpace(world, /notes/i.test(line) ? 'notes' : 'example-space')
      return {}
    },
  },
  {
    when: /docs show .*--item ITEM/,
    make: async (world) => {
      const id = await documentOf(world, 'figure.html')
      const [item] = await json<Named[]>(world, 'docs', 'show', '--as', 'items', id, '--space', 'example-space')
      return { [ID]: world.shown(id), ITEM: item?.id ?? '' }
    },
  },
  {
    when: /docs show .*#a1b2c3d4.*--table/,
    make: async (world) => ({ [ID]: world.shown(await documentOf(world, 'prices.html')) }),
  },
  {
    when: /docs (delete|reindex|show) (?!.*--(item|table) ).*#a1b2c3d4/,
    make: async (world) => ({ [ID]: world.shown(await documentOf(world, 'guide.md')) }),
  },
  {
    when: /handbook\/on-call.md|guide\/harbour.md|documents\/guide.md|golden run/,
    make: async (world) => {
      await documentOf(world, 'on-call.md')
      return {}
    },
  },
  {
    when: /golden ((delete|update) )?'#(?!.*--run)/,
    make: async (world) => {
      const id = await space(world, 'example-space')
      const body = { question: `Who is on call? ${Math.random()}` }
      const made = await world.http<Named>('POST', `/knowledge-spaces/${id}/golden-questions`, body)
      return { [ID]: world.shown(made.id) }
    },
  },
  {
    when: /golden delete '#.*--run/,
    make: async (world) => {
      const id = await space(world, 'example-space')
      const body = { questions: [{ id: 'q', question: 'Who is on call?', answerable: true }] }
      const made = await world.http<Named>('POST', `/knowledge-spaces/${id}/golden-runs`, body)
      return { [ID]: world.shown(made.id) }
    },
  },
  {
    when: /--(expect|irrelevant) '#9f31c2aa'/,
    make: async (world) => ({ [OTHER_ID]: world.shown(await passage(world)) }),
  },
  {
    when: /(traces \S+|--trace) ('#9f31c2aa'|last)/,
    make: async (world, line) => ({
      [OTHER_ID]: world.shown(await ask(world, line.includes('missing') ? LOST : QUESTION, spaceOf(line))),
    }),
  },
  {
    when: /failed triage '#/,
    make: async (world) => {
      const id = await space(world, 'example-space')
      const traceId = await ask(world, LOST)
      let found: string | undefined
      await until(async () => {
        const path = `/knowledge-spaces/${id}/failed-queries?limit=100`
        const { items } = await world.http<{ items: (Named & { answerTraceId: string })[] }>('GET', path)
        found = items.find(({ answerTraceId }) => answerTraceId === traceId)?.id
        return found !== undefined
      })
      return { [ID]: world.shown(found ?? '') }
    },
  },
  {
    when: /jobs show '#/,
    make: async (world) => ({ [ID]: world.shown(await job(world)) }),
  },
  {
    // An earlier example may have started a migration that is still running.
    when: /spaces update .*--embedding/,
    make: async (world, line) => {
      await noSpace(world, 'example-space')
      await space(world, spaceOf(line))
      return {}
    },
  },
  {
    when: /spaces update .*--cancel-embedding/,
    make: async (world) => {
      // A migration to a model that never responds.
      await space(world, 'example-space')
      world.slowModel.always({ kind: 'hang' })
      const model = 'openai-compatible/slow/embedder'
      const { id } = await json<Named>(world, 'spaces', 'update', 'example-space', '--embedding', model)
      return { [ID]: world.shown(id) }
    },
  },
  {
    when: /jobs retry '#/,
    make: async (world) => {
      await world.home.ks(['ingest', 'work/broken.pdf', '--space', 'example-space', '--wait'])
      const failed = await json<Named[]>(world, 'jobs', 'example-space', '--state', 'failed')
      return { [ID]: world.shown(failed[0]?.id ?? '') }
    },
  },
  {
    when: /jobs cancel '#/,
    make: async (world) => {
      await space(world, 'slow')
      // The processes that read documents and maintain the indexes are suspended, so that the job cannot end.
      world.pause()
      world.home.file('work/late.md', `# Late\n\nThis came late: ${Math.random()}.\n`)
      await world.ks('ingest', 'work/late.md', '--space', 'slow')
      const jobs = await json<Named[]>(world, 'jobs', 'slow')
      return { [ID]: world.shown(jobs[0]?.id ?? '') }
    },
  },
  {
    when: /research (show|cancel) ('#|last)/,
    make: async (world, line) => ({ [ID]: world.shown(await research(world, line)) }),
  },
  {
    when: /WorkspaceSnapshot |fs (mv|rm) |fs write/,
    make: async (world, line) => {
      for (const name of ['notes.md', 'old/notes.md']) {
        if (/fs (mv|write)/.test(line) && name.startsWith('old')) continue
        await world.ks('fs', 'write', `/workspaces/audit/${name}`, '--text', 'Start.', '--space', 'example-space')
      }
      if (line.includes('fs mv')) await world.home.ks(['fs', 'rm', '/workspaces/audit/old', '--recursive', '--yes'])
      if (!line.includes('#')) return {}
      const id = await space(world, 'example-space')
      const body = { knowledgeSpaceId: id, workspace: 'audit' }
      return { [ID]: (await world.http<Named>('POST', '/agent-workspace-snapshots', body)).id }
    },
  },
  {
    when: /sources \S+ '#a1b2c3d4'/,
    make: async (world, line) => ({ [ID]: world.shown(await source(world, line)) }),
  },
  {
    when: /sources \S+ '#b2c3d4e5'/,
    make: async (world, line) => ({ '#b2c3d4e5': world.shown(await source(world, line)) }),
  },
  {
    when: /credentials-file keys.json/,
    make: async (world) => {
      world.home.file('work/keys.json', JSON.stringify(world.s3.metadata['credentials']))
      return {}
    },
  },
  {
    when: /^ks watch /,
    make: async (world) => {
      // The watch of an earlier line.
      for (const { id } of await json<Named[]>(world, 'watch')) await world.ks('watch', 'remove', id)
      return {}
    },
  },
  {
    when: /daemon start --foreground/,
    make: async (world) => {
      await world.ks('daemon', 'stop')
      return {}
    },
  },
  {
    when: /logs -f --level warn/,
    make: async (world) => {
      const log = join(world.home.dataDir, 'logs/daemon.log')
      appendFileSync(log, `{"level":"warn","time":"${new Date().toISOString()}","msg":"the tide is high"}\n`)
      return {}
    },
  },
  {
    when: /watch (remove|stop) /,
    make: async (world) => {
      const watch = await json<Named>(world, 'watch', 'add', join(world.home.dir, 'notes'), '--space', 'example-space')
      return { [ID]: world.shown(watch.id) }
    },
  },
  {
    when: /context work(?!.*--url)|--context work/,
    make: async (world, line) => {
      await world.ks('context', 'work', '--url', await world.url())
      if (line.includes('status')) await world.home.ks(['auth', 'login', '--context', 'work'], { stdin: world.token() })
      return {}
    },
  },
  {
    when: /< (token|key).txt/,
    make: async (world) => {
      world.home.file('work/token.txt', world.token())
      if (!existsSync(join(world.home.dir, 'work/key.txt'))) await app(world, 'Handbook')
      const key = JSON.parse(await world.kchat('apps', 'keys', 'create', 'Handbook', '--json'))
      world.home.file('work/key.txt', key.key)
      return {}
    },
  },
  {
    when: /POST \/queries/,
    make: async (world) => {
      const body = { knowledgeSpaceId: await space(world, 'example-space'), query: QUESTION }
      world.home.file('work/question.json', JSON.stringify(body))
      return {}
    },
  },
  {
    when: /\$SPACE/,
    make: async (world) => ({ $SPACE: await space(world, 'example-space') }),
  },
  {
    when: /golden run (?!.*--file)/,
    make: async (world, line) => {
      const path = `/knowledge-spaces/${await space(world, spaceOf(line))}/golden-questions`
      const { items } = await world.http<{ items: Named[] }>('GET', `${path}?limit=100`)
      for (const { id } of items) await world.http('DELETE', `${path}/${id}`)
      const expectedEvidenceIds = [await passage(world, spaceOf(line))]
      const expected = { state: 'answerable' }
      await world.http('POST', path, { question: QUESTION, expectedEvidenceIds, expect: expected })
      return {}
    },
  },
  {
    when: /golden-baseline.json --/,
    make: async (world) => {
      const path = join(world.home.dir, 'work/golden-baseline.json')
      if (!existsSync(path))
        await world.ks('golden', 'run', '--file', join(world.home.dir, 'work/golden.yaml'), '--save-baseline', path)
      return {}
    },
  },
  {
    when: /^(?!.*kchat (apps create|completion)).*\bkchat\b/,
    make: async (world, line) => {
      await app(world, line.includes('Guide') ? 'Guide' : 'Handbook')
      return {}
    },
  },
  {
    when: /kchat apps create/,
    make: async (world, line) => {
      for (const name of ['Handbook', 'Guide', 'Copy']) if (line.includes(`create ${name}`)) await noApp(world, name)
      return {}
    },
  },
  {
    when: /kchat .*--conversation last/,
    make: async (world) => {
      await turn(world)
      return {}
    },
  },
  {
    when: /kchat history CONVERSATION/,
    make: async (world) => ({ CONVERSATION: (await turn(world)).conversation_id }),
  },
  {
    when: /kchat .*018f22aa/,
    make: async (world, line) => ({ [UUID]: await chatSubject(world, line) }),
  },
]
