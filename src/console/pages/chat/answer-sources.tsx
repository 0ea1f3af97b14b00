import type { RetrieverResource } from '../../../contract/chat/messages.js'
import { pageHref } from '../../router.js'
import { Link } from '../../ui/button.js'
import { plural } from '../../ui/format.js'

/** Passages of a chat answer; the one whose citation was clicked is highlighted. */
export function AnswerSources({
  sources,
  cited,
}: {
  sources: readonly RetrieverResource[]
  cited: number | undefined
}) {
  if (sources.length === 0) return null
  return (
    // the key opens the list at each citation; the user may close it again
    <details key={cited} className="talk-sources" open={cited !== undefined}>
      <summary className="small">{plural(sources.length, 'passage')}</summary>
      <ol>
        {sources.map(({ position, document_id, document_name, dataset_id, content }) => (
          <li key={position} className={position === cited ? 'is-cited' : undefined}>
            <p>
              <span className="faint number">{position}</span>{' '}
              <Link className="wrap" to={pageHref('documents', [document_id], { space: dataset_id })}>
                {document_name}
              </Link>
            </p>
            <p className="small muted wrap">{content.slice(0, 400)}</p>
          </li>
        ))}
      </ol>
    </details>
  )
}
