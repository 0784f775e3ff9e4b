internal import HTTPServer
internal import Identity
internal import Wire

/// Makes the tokens that lead into calls' rooms.
struct CallTokenMinter: Sendable {
    let keys: KeysInUse
    let server: ServerInfo
    /// How clients reach the gateway; nil: as the one that asks did.
    let publicURL: String?

    func reply(letting user: Identity, into call: CallInfo, host: String?) throws(CallError) -> CallReply {
        guard let signer = keys.current.signer else {
            throw CallError(.unsupported, "the gateway has no HS256 key to sign room tokens with; see `keys` in its configuration")
        }
        guard let url = publicURL ?? host.map({ "wss://" + $0 }) else {
            throw CallError(.invalidArgument, "send a Host header, by which the room is reached, too")
        }
        let party = CallParty(user)
        let now = WallClock.seconds
        let claims = AccessToken(
            identity: user.text, notBefore: now, expires: now + SessionService.tokenLifetimeSeconds,
            name: call.caller == party ? call.callerName : "", kind: party.isAssistant ? .agent : .standard, video: .joining(call.room))
        do throws(MintError) {
            return CallReply(call, livekitURL: url, livekitToken: try TokenMinter.mint(claims, with: signer), roomName: call.room)
        } catch {
            throw CallError(.unsupported, "the gateway cannot sign a room token: \(error)")
        }
    }
}
