internal import HTTPServer
internal import Store
internal import Wire

/// Sends the events of conversations to the channels of their members (docs/protocol/calls.md, "Conversations"), and as webhooks.
struct ConversationNewsSender: Sendable {
    let webhooks: WebhookWriter
    let inbox: CallInbox

    /// Returns the outlet for a change that the current request, if any, makes.
    func outlet() -> ConversationOutlet {
        let request = RequestContext.current
        return ConversationOutlet(
            webhooks: { [webhooks] news in webhooks.webhooks(for: news, at: news.event.at, request: request) },
            tell: { [inbox] news in
                for (user, notice) in ConversationNotice.all(of: news) {
                    inbox.post(.notice(notice.bytes, to: Identity(text: user.text)))
                }
            })
    }
}

/// The message `conversation.event` on a user's channel.
struct ConversationNotice: JSONWritable, Sendable, Hashable {
    var conversation: ConversationID
    var event: ConversationEvent
    /// Whether to include the event's number. Members who have not joined must not learn how many events there are.
    var isNumbered: Bool

    /// Returns a notice for each recipient: the members that have joined, and the user that the event is about.
    static func all(of news: ConversationNews) -> [(user: UserID, notice: ConversationNotice)] {
        let joined = ConversationNotice(conversation: news.conversation, event: news.event, isNumbered: true)
        var notices: [(user: UserID, notice: ConversationNotice)] = news.joined.map { ($0, joined) }
        if !news.joined.contains(news.event.user) {
            notices.append((news.event.user, ConversationNotice(conversation: news.conversation, event: news.event, isNumbered: false)))
        }
        return notices
    }

    var bytes: [UInt8] { JSON.text(self) }

    func write(to json: inout JSONOutput) {
        json.writeObject { json in
            json.writeMember("type", "conversation.event")
            json.writeMember("data")
            json.writeObject { json in
                json.writeMember("conversation", conversation.text)
                json.writeMember("event")
                json.writeObject { json in
                    if isNumbered { json.writeMember("number", event.number) }
                    json.writeMember("type", event.kind.rawValue)
                    json.writeMember("user", event.user.text)
                    json.writeMember("timestamp", event.at)
                    if let text = event.text { json.writeMember("text", text) }
                }
            }
        }
    }
}
