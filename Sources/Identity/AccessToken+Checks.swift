import Wire

extension AccessToken {
    /// How far two clocks may differ, in seconds: LiveKit's leeway for both `exp` and `nbf`.
    package static let leewaySeconds: Int64 = 60

    /// - Parameter now: wall-clock seconds since 1970, any value.
    func checkTimes(now: Int64) throws(TokenError) {
        // The sums are cut off at the ends of Int64: a clock or a claim far out must not trap.
        if expires < now.subtractingOrMin(Self.leewaySeconds) { throw .expired }
        if let notBefore, notBefore > now.addingOrMax(Self.leewaySeconds) { throw .notYetValid }
    }

    /// Lengths, and that nobody without an identity gets where one is needed.
    func checkNames() throws(TokenError) {
        guard identity.utf8.count <= ProtocolLimits.identityBytesMax else { throw .badIdentity }
        guard !identity.isEmpty || isForServices else { throw .badIdentity }
        guard let video else { return }
        guard video.room.utf8.count <= ProtocolLimits.roomNameBytesMax,
            video.destinationRoom.utf8.count <= ProtocolLimits.roomNameBytesMax
        else { throw .badRoom }
    }

    /// LiveKit's SDKs sign server API calls with an empty `sub`. Such a token may do nothing in anybody's name.
    private var isForServices: Bool {
        guard let video else { return false }
        return !video.roomJoin && sessionID == nil
    }
}

extension Int64 {
    fileprivate func addingOrMax(_ span: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(span)
        return overflow ? .max : sum
    }

    fileprivate func subtractingOrMin(_ span: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(span)
        return overflow ? .min : difference
    }
}
