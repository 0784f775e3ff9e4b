/// What a peer does of its own accord, besides talking and listening.
package enum Doing: Int, CaseIterable, Sendable {
    case publish, unpublish, mute, muteSomebody, subscribe, hold, data, text, call, segment, digits, agentState, update, ping, refresh
    case leave
    /// Frames in bundles, and more of them than its clock allows.
    case bundle, flood
    /// Speech pushed ahead of its clock; talking over somebody's speech.
    case speakAhead, bargeIn
    // What no honest client does.
    case strangeText, strangeFrame, foreignAlias, wrongEpoch

    /// How often a peer does it on average where it is done at all, a second.
    var usualRate: Double {
        switch self {
        case .publish, .mute, .subscribe, .data, .ping: 1
        case .hold, .text, .call, .segment, .agentState, .bundle: 0.5
        case .unpublish, .muteSomebody, .digits, .update, .refresh: 0.25
        case .leave: 0.1
        case .flood: 0.1
        case .speakAhead, .bargeIn: 0.5
        case .strangeText, .strangeFrame, .foreignAlias, .wrongEpoch: 1
        }
    }
}

/// What happens to peers, paths and shards.
package enum Trouble: Int, CaseIterable, Sendable {
    /// Nothing moves on a path for a while.
    case clogUp, clogDown
    /// A peer does not read for a while; reads one message at a time.
    case freeze, readSlowly
    /// A socket breaks; a peer is gone without a word; the same identity comes again from elsewhere.
    case reset, vanish, duplicate
    /// A shard's thread does not get the processor for a while.
    case pauseShard
    /// By HTTP.
    case deleteRoom, removeSomebody, muteTrack, changePermission, changeMetadata

    /// How often it happens on average where it happens at all, a second.
    var usualRate: Double {
        switch self {
        case .clogUp, .clogDown, .freeze: 2
        case .readSlowly: 0.5
        case .reset, .duplicate: 0.5
        case .vanish: 0.2
        case .pauseShard: 1
        case .deleteRoom: 0.1
        case .removeSomebody, .muteTrack, .changePermission, .changeMetadata: 0.3
        }
    }
}
