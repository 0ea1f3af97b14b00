import type { Client } from '../client/client.js'
import type { ListedJob } from '../contract/gateway/jobs.js'
import { formatCell } from './columns.js'

type JobReadingProgress = NonNullable<ListedJob['progress']>

/** Maximum number of files that are read at once, including those that wait in a batch. */
const MAX_READINGS = 100

/** Lists jobs of a space whose files are being read, with their progress. */
export async function listReadings(
  client: Pick<Client, 'request'>,
  id: string,
): Promise<(ListedJob & { progress: JobReadingProgress })[]> {
  const page = await client.request('GET /knowledge-spaces/{id}/jobs', {
    path: { id },
    query: { state: 'reading', limit: MAX_READINGS },
  })
  return page.items.flatMap((job) => (job.progress === undefined ? [] : [{ ...job, progress: job.progress }]))
}

/** `page 120 of 872` */
export function formatReadingProgress(progress: JobReadingProgress): string {
  return formatCell(progress, 'progress')
}

/** The reading progress of a job's file, if it is being read. */
export async function findReadingProgress(
  client: Client,
  job: Pick<ListedJob, 'id' | 'knowledgeSpaceId'>,
): Promise<string | undefined> {
  const reading = (await listReadings(client, job.knowledgeSpaceId)).find(({ id }) => id === job.id)
  return reading === undefined ? undefined : formatReadingProgress(reading.progress)
}
