import { z } from 'zod'
import { ConcreteMode, count, uuid } from '../primitives.js'

/** A space of a question over several. */
export const SearchedSpace = z
  .strictObject({
    knowledgeSpaceId: uuid.describe('id of the space'),
    slug: z.string().describe('slug of the space'),
    mode: ConcreteMode.optional().describe('mode that was run; absent if the space was not searched'),
    passages: count.describe('number of passages from this space in the result'),
    problem: z
      .string()
      .optional()
      .describe('why the space contributes nothing: it is empty or failed; absent otherwise'),
    traceId: uuid.optional().describe('id of the trace in this space, of a question'),
  })
  .meta({ id: 'SearchedSpace' })
export type SearchedSpace = z.output<typeof SearchedSpace>

/** Fields of a result over several spaces. */
export const searchedSpacesFields = {
  spaces: z.array(SearchedSpace).describe('the spaces that were asked, in the order of the request'),
  omittedSpaces: count.describe('number of spaces of the caller beyond the maximum, which were not asked'),
}
