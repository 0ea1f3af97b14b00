import type { Client } from '../client/client.js'
import type { ListedJob } from '../contract/gateway/jobs.js'
import { show } from './columns.js'

type Progress = NonNullable<ListedJob['progress']>

/** So many files are read at once at most; those that wait for their turn in a batch are listed, too. */
const ASKED = 100

/** Jobs of a space whose files are read now, and how far they are; of those that take a while. */
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

/** How far the reading of a job's file is, where it takes a while. */
export async function readingOf(
  client: Client,
  job: Pick<ListedJob, 'id' | 'knowledgeSpaceId'>,
): Promise<string | undefined> {
  const found = (await readings(client, job.knowledgeSpaceId)).find(({ id }) => id === job.id)
  return found === undefined ? undefined : progressInWords(found.progress)
}
