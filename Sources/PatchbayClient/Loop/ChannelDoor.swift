internal import Wire

/// A user's own channel as seen from other threads: where to post, and where to look.
final class ChannelDoor: Sendable {
    let loop: ClientLoop
    let id: Int
    let options: RoomOptions
    let mirror = ChannelMirror()

    init(loop: ClientLoop, options: RoomOptions) {
        self.loop = loop
        self.id = loop.makeID()
        self.options = options
    }

    func post(_ command: ChannelCommand) {
        loop.post(.channel(id, command))
    }

    @discardableResult
    func ask(_ request: CallRequest) async throws(RequestFailure) -> CallReply {
        try await withCheckedContinuation { post(.ask(request, timeout: options.requestTimeout, $0)) }.get()
    }

    /// Asks for something that leads into a call's room, and joins that.
    func enter(_ request: CallRequest) async throws(CallFailure) -> (call: Call, room: RoomConnection) {
        let reply: CallReply
        do throws(RequestFailure) { reply = try await ask(request) } catch { throw .request(error) }
        guard let info = reply.call, let user = mirror.current.book.user else { throw .request(.badAnswer) }
        if info.status.isOver { throw .over(ending(of: Call(info: info, user: user, isHere: true))) }
        guard let url = reply.livekitUrl, let token = reply.livekitToken else { throw .request(.badAnswer) }
        do throws(ConnectError) {
            let room = try await RoomConnection.connect(url: url, token: token, options: options)
            return (known(info, user), room)
        } catch {
            if error.code == "call_ended" {
                // Whatever it is refused with, the call's end has been told before.
                _ = try? await ask(.join(info.id))
                throw .over(ending(of: known(info, user)))
            }
            // Nobody is to wait for somebody who does not come.
            post(.tell(.hangUp(info.id)))
            throw .room(error)
        }
    }

    /// The newest account of a call.
    private func known(_ info: CallInfo, _ user: Identity) -> Call {
        var call = mirror.current.book.latest(info.id) ?? Call(info: info, user: user, isHere: true)
        call.door = self
        return call
    }

    private func ending(of call: Call) -> CallEnding {
        if case .ended(let ending) = call.state { ending } else { .failed }
    }
}
