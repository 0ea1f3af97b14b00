import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { AnnotationJobStatus, AnnotationList } from '../../../contract/chat/annotations.js'
import type { ChatParameters } from '../../../contract/chat/application.js'
import type { ChatClient } from '../../chat/client.js'
import { Button, IconButton } from '../../ui/button.js'
import { NumberField, TextAreaField, TextField } from '../../ui/fields.js'
import { plural } from '../../ui/format.js'
import { FormActions, Panel } from '../../ui/parts.js'
import { Badge, Loaded } from '../../ui/state.js'
import { showError } from '../../ui/toast.js'

const PAGE_SIZE = 20
const MAX_CHARS = 16_000
const POLL_MS = 400
const DEFAULT_THRESHOLD = 0.9

/** Tab of annotations: questions with fixed answers, and whether they are used. */
export function Annotations({ client, appId }: { client: ChatClient; appId: string }) {
  const [page, setPage] = useState(1)
  const queryClient = useQueryClient()
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['chat', appId, 'annotations'] })
  const annotations = useQuery({
    queryKey: ['chat', appId, 'annotations', page],
    queryFn: () => client.read<AnnotationList>('/apps/annotations', { page: String(page), limit: String(PAGE_SIZE) }),
  })
  const add = useMutation({
    mutationFn: (body: { question: string; answer: string }) => client.change('POST', '/apps/annotations', body),
    onSettled: refresh,
  })
  const remove = useMutation({
    mutationFn: (id: string) => client.change('DELETE', `/apps/annotations/${id}`),
    onError: showError,
    onSettled: refresh,
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const data = new FormData(form)
    add.mutate(
      { question: String(data.get('question') ?? ''), answer: String(data.get('answer') ?? '') },
      { onSuccess: () => form.reset() },
    )
  }
  return (
    <div className="stack">
      <AnnotationReplies client={client} appId={appId} />
      <Panel title="New annotation">
        <form className="stack" onSubmit={submit}>
          <TextField label="Question" name="question" required maxLength={MAX_CHARS} />
          <TextAreaField label="Answer" name="answer" rows={3} required maxLength={MAX_CHARS} />
          <FormActions mutation={add} label="Add" kind="plain" />
        </form>
      </Panel>
      <Loaded query={annotations} lines={4}>
        {({ data, total, has_more }) => (
          <>
            <p className="small muted">{plural(total, 'annotation')}</p>
            {data.length > 0 && (
              <ul className="panel chat-list">
                {data.map(({ id, question, answer, hit_count }) => (
                  <li key={id} className="chat-line">
                    <span className="chat-text">
                      <strong className="wrap">{question}</strong>
                      <span className="muted wrap">{answer}</span>
                      <span className="small faint">
                        {hit_count === 0 ? 'not used yet' : `answered ${plural(hit_count, 'time')}`}
                      </span>
                    </span>
                    <IconButton icon="trash" label={`Delete ${question}`} onClick={() => remove.mutate(id)} />
                  </li>
                ))}
              </ul>
            )}
            {(page > 1 || has_more) && (
              <div className="row">
                <Button small disabled={page === 1} onClick={() => setPage(page - 1)}>
                  Newer
                </Button>
                <Button small disabled={!has_more} onClick={() => setPage(page + 1)}>
                  Older
                </Button>
              </div>
            )}
          </>
        )}
      </Loaded>
    </div>
  )
}

/** Panel that switches the use of annotations on and off. */
function AnnotationReplies({ client, appId }: { client: ChatClient; appId: string }) {
  const queryClient = useQueryClient()
  const [threshold, setThreshold] = useState(DEFAULT_THRESHOLD)
  const parameters = useQuery({
    queryKey: ['chat', appId, 'parameters'],
    queryFn: async () => await client.read<ChatParameters>('/parameters', { user: await client.user() }),
  })
  const isOn = parameters.data?.annotation_reply.enabled ?? false
  const toggle = useMutation({
    mutationFn: () => switchReplies(client, isOn ? 'disable' : 'enable', threshold),
    onError: showError,
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['chat', appId, 'parameters'] }),
  })
  return (
    <Panel
      title="Replies by annotations"
      actions={<Badge tone={isOn ? 'good' : 'neutral'}>{isOn ? 'on' : 'off'}</Badge>}
    >
      <p className="muted">A question similar enough to one below gets its answer, without a model.</p>
      <div className="row chat-user chat-after">
        {!isOn && (
          <NumberField
            label="Minimum similarity, 0 to 1"
            min={0}
            max={1}
            step={0.01}
            value={threshold}
            onChange={(event) => setThreshold(Number(event.target.value))}
          />
        )}
        <Button busy={toggle.isPending} disabled={parameters.isPending} onClick={() => toggle.mutate()}>
          {isOn ? 'Switch off' : 'Switch on'}
        </Button>
      </div>
    </Panel>
  )
}

/** Starts the job that switches replies and waits until it ends. */
async function switchReplies(client: ChatClient, action: 'enable' | 'disable', threshold: number): Promise<void> {
  const body = action === 'enable' ? { score_threshold: threshold } : {}
  const { job_id } = await client.change<{ job_id: string }>('POST', `/apps/annotation-reply/${action}`, body)
  while (true) {
    const { job_status, error_msg } = await client.read<AnnotationJobStatus>(
      `/apps/annotation-reply/${action}/status/${job_id}`,
    )
    if (job_status === 'completed') return
    if (job_status === 'error') throw new Error(error_msg)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
