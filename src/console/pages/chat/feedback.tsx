import { useQuery } from '@tanstack/react-query'
import type { FeedbackItem } from '../../../contract/chat/messages.js'
import type { ChatClient } from '../../chat/client.js'
import { RelativeTime } from '../../ui/relative-time.js'
import { Badge, Empty, Loaded } from '../../ui/state.js'

/** Ratings of answers, newest first. */
export function Feedback({ client, appId }: { client: ChatClient; appId: string }) {
  const feedback = useQuery({
    queryKey: ['chat', appId, 'feedback'],
    queryFn: () => client.read<{ data: FeedbackItem[] }>('/app/feedbacks', { limit: '100' }),
  })
  return (
    <Loaded query={feedback} lines={4}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty icon="chat" title="No ratings yet">
            <p>People rate an answer below it, programs with a request.</p>
          </Empty>
        ) : (
          <ul className="panel chat-list">
            {data.map(({ id, rating, content, conversation_id, updated_at }) => (
              <li key={id} className="chat-line">
                <span className="row">
                  <Badge tone={rating === 'like' ? 'good' : 'bad'}>{rating === 'like' ? 'good' : 'bad'}</Badge>
                  <span className="wrap">{content === '' ? 'without a remark' : content}</span>
                </span>
                <span className="small faint wrap">
                  <RelativeTime time={updated_at} />, conversation <span className="mono">{conversation_id}</span>
                </span>
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  )
}
