public import Wire

/// What one may ask of the gateway about a call. Each returns when it is done; what follows from it is told as an event, too, and the call at
/// hand stays what it was. `RequestFailure.ended` is thrown where its channel is gone.
extension Call {
    /// Takes an incoming call. The first device to do so has it; for the others it has ended.
    ///
    /// - Returns: the call's room, joined. Who leaves that has left the call.
    /// - Throws: `CallFailure`.
    public func answer() async throws(CallFailure) -> RoomConnection {
        try await enter(.answer(id))
    }

    /// Does not take an incoming call, on no device.
    ///
    /// - Parameters:
    ///   - busy: says "busy" to the others, and not "no".
    ///   - reason: in words for the others, at most 256 bytes.
    public func reject(busy: Bool = false, reason: String? = nil) async throws(RequestFailure) {
        try await ask(.reject(id, CallRejection(isBusy: busy, reason: reason)))
    }

    /// Ends a call that we are in, for us; one that we made and nobody has answered yet is cancelled. Its room need not be left.
    public func hangUp() async throws(RequestFailure) {
        try await ask(.hangUp(id))
    }

    /// Puts a call on hold, or takes it back: meanwhile we neither hear nor are heard, whatever tracks there are in the room.
    public func hold(_ held: Bool = true) async throws(RequestFailure) {
        try await ask(.hold(id, held: held))
    }

    /// Mutes us in a call, whatever tracks we have in its room, or takes that back.
    public func mute(_ muted: Bool = true) async throws(RequestFailure) {
        try await ask(.mute(id, muted: muted))
    }

    /// Rings others, who join this call when they answer.
    public func invite(_ parties: [CallParty]) async throws(RequestFailure) {
        try await ask(.invite(id, parties))
    }

    /// Joins the room of a call that we are in already, when its `RoomConnection` is gone for good.
    public func join() async throws(CallFailure) -> RoomConnection {
        try await enter(.join(id))
    }

    private func ask(_ request: CallRequest) async throws(RequestFailure) {
        guard let door else { throw .ended }
        try await door.ask(request)
    }

    private func enter(_ request: CallRequest) async throws(CallFailure) -> RoomConnection {
        guard let door else { throw .request(.ended) }
        return try await door.enter(request).room
    }
}
