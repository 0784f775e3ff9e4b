/// Random actions of a peer, besides talking and listening.
package enum PeerAction: Int, CaseIterable, Sendable {
    case publish, unpublish, mute, muteParticipant, subscribe, hold, data, text, call, segment, digits, agentState, update, ping, refresh
    case leave
    /// Sends a bundle of frames; sends frames far above the rate limit.
    case bundle, flood
    /// Publishes speech faster than it plays; clears another participant's `ahead` track.
    case speakAhead, bargeIn
    // Protocol violations.
    case strangeText, strangeFrame, foreignAlias, wrongEpoch

    /// Mean rate per second in worlds where the action is enabled.
    var meanRate: Double {
        switch self {
        case .publish, .mute, .subscribe, .data, .ping: 1
        case .hold, .text, .call, .segment, .agentState, .bundle: 0.5
        case .unpublish, .muteParticipant, .digits, .update, .refresh: 0.25
        case .leave: 0.1
        case .flood: 0.1
        case .speakAhead, .bargeIn: 0.5
        case .strangeText, .strangeFrame, .foreignAlias, .wrongEpoch: 1
        }
    }
}

/// Faults and administrative commands injected into a world.
package enum Fault: Int, CaseIterable, Sendable {
    /// A path transmits nothing for a while.
    case clogUp, clogDown
    /// A peer stops reading for a while; pauses after each message.
    case freeze, readSlowly
    /// A connection is reset; a peer disappears silently; the same identity connects again.
    case reset, vanish, duplicate
    /// A shard's thread is not scheduled for a while.
    case pauseShard
    /// Administrative HTTP requests.
    case deleteRoom, removeParticipant, muteTrack, changePermission, changeMetadata

    /// Mean rate per second in worlds where the fault is enabled.
    var meanRate: Double {
        switch self {
        case .clogUp, .clogDown, .freeze: 2
        case .readSlowly: 0.5
        case .reset, .duplicate: 0.5
        case .vanish: 0.2
        case .pauseShard: 1
        case .deleteRoom: 0.1
        case .removeParticipant, .muteTrack, .changePermission, .changeMetadata: 0.3
        }
    }
}
