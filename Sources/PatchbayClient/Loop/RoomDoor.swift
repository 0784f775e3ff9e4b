internal import Wire

/// A room as seen from other threads: where to post, and where to look.
final class RoomDoor: Sendable {
    let loop: ClientLoop
    let id: Int
    let mirror = RoomMirror()

    init(loop: ClientLoop) {
        self.loop = loop
        self.id = loop.makeID()
    }

    func post(_ command: RoomCommand) {
        loop.post(.room(id, command))
    }

    func ask(_ request: Request, timeout: Duration) async throws(RequestFailure) -> ReplyFields {
        try await withCheckedContinuation { post(.ask(request, timeout: timeout, $0)) }.get()
    }
}
