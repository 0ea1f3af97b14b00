import type { TurnStyle } from '../../chat/turn-view.js'
import { pageHref } from '../../router.js'
import { Link } from '../../ui/button.js'
import { showToast } from '../../ui/toast.js'

/** How the console shows turns of an application to its owner. */
export const OWNER_STYLE: TurnStyle = {
  ratingLabels: { like: 'Good answer', dislike: 'Bad answer' },
  showsDetails: true,
  onRemark: () => showToast('The remark is listed under Feedback.'),
  renderSourceName: ({ document_id, document_name, dataset_id }) => (
    <Link to={pageHref('documents', [document_id], { space: dataset_id })}>{document_name}</Link>
  ),
}
