/// Who asked, and under which number it wants the answer, if at all.
struct Requester: Sendable {
    let handle: ParticipantHandle
    let id: UInt64?
}
