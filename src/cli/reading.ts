import type { Client } from '../client/client.js'
import type { ListedJob } from '../contract/gateway/jobs.js'
import { show } from './columns.js'

type Progress = NonNullable<ListedJob['progress']>

/** Maximum number of files that are read at once, including those that wait in a batch. */
const ASKED = 100

/** Lists jobs of a space whose files are being read, with their progress. */
export async function readings(client: Client, id: string): Promise<(ListedJob & { progress: Progress })[]> {
  const page = await client.request('GET /knowledge-spaces/{id}/jobs', {
    path: { id },
    query: { state: 'reading', limit: ASKED },
  })
  return page.items.flatMap((job) => (job.progress === undefined ? [] : [{ ...job, progress: job.progress }]))
}

/** `page 120 of 872` */
export function progressInWords(progress: Progress): string {
  return show(progress, 'progress')
}

/** The reading progress of a job's file, if it is being read. */
export async function readingOf(
  client: Client,
  job: Pick<ListedJob, 'id' | 'knowledgeSpaceId'>,
): Promise<string | undefined> {
  const found = (await readings(client, job.knowledgeSpaceId)).find(({ id }) => id === job.id)
  return found === undefined ? undefined : progressInWords(found.progress)
}
