internal import Engine
internal import Store
internal import Wire

/// Derives `audio:started` and `audio:ended` events of conversations from changes of calls to all their members. A pure value.
///
/// A member talks from the first answer on, or from its own answer, until it leaves the call.
struct ConversationAudio {
    private var talking: [CallID: Set<CallParty>] = [:]

    init() {}

    init(continuing calls: [CallInfo]) {
        for call in calls where call.conversation != nil {
            talking[call.id] = Set(call.members.filter { $0.state == .joined }.map(\.party))
        }
    }

    /// - Returns: the changes, in the order of the members; empty for calls without a conversation.
    mutating func note(_ record: CallRecord) -> [ConversationAudioChange] {
        let call = record.call
        guard let conversation = call.conversation.flatMap(ConversationID.init(text:)) else { return [] }
        func change(_ party: CallParty, isTalking: Bool) -> ConversationAudioChange? {
            UserID(text: party.text).map { ConversationAudioChange(conversation: conversation, user: $0, isTalking: isTalking) }
        }
        if case .member(let party, .left) = record.change {
            return talking[call.id]?.remove(party) == nil ? [] : [change(party, isTalking: false)].compactMap(\.self)
        }
        if call.status.isOver { talking[call.id] = nil }
        guard call.status == .answered else { return [] }
        let new = call.members.filter { $0.state == .joined && talking[call.id]?.contains($0.party) != true }.map(\.party)
        talking[call.id, default: []].formUnion(new)
        return new.compactMap { change($0, isTalking: true) }
    }
}
