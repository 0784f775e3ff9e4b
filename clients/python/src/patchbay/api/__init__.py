"""The HTTP API: tokens, webhooks, accounts, sessions, calls, rooms, assistants and clips."""

from ..errors import APIError, TokenError
from .access_token import (
    AccessToken,
    Claims,
    RoomAgentDispatch,
    RoomConfiguration,
    TokenVerifier,
    VideoGrants,
)
from .accounts import AccountService, Contact, Tokens, User, UserProfile, UserSettings
from .assistants import AssistantCard, AssistantDefinition, AssistantService, Tool, ToolResult, Voice, assistant_token
from .calls import Call, CallAccess, CallMember, CallService, PastCall
from .client import PatchbayAPI
from .rooms import AgentDispatchService, Job, RoomDetail, RoomLog, RoomParticipant, RoomService, RoomSummary
from .sessions import Session, SessionAccess, SessionDetail, SessionLine, SessionService, Summary, Turn, TurnReceipt
from .speech import Clip, ClipWord, SpeechProvider, SpeechService, SpeechVoice
from .webhook import WebhookEvent, WebhookReceiver

__all__ = [
    "APIError",
    "AccessToken",
    "AccountService",
    "AgentDispatchService",
    "AssistantCard",
    "AssistantDefinition",
    "AssistantService",
    "Call",
    "CallAccess",
    "CallMember",
    "CallService",
    "Claims",
    "Clip",
    "ClipWord",
    "Contact",
    "Job",
    "PastCall",
    "PatchbayAPI",
    "RoomAgentDispatch",
    "RoomConfiguration",
    "RoomDetail",
    "RoomLog",
    "RoomParticipant",
    "RoomService",
    "RoomSummary",
    "Session",
    "SessionAccess",
    "SessionDetail",
    "SessionLine",
    "SessionService",
    "SpeechProvider",
    "SpeechService",
    "SpeechVoice",
    "Summary",
    "TokenError",
    "TokenVerifier",
    "Tokens",
    "Tool",
    "ToolResult",
    "Turn",
    "TurnReceipt",
    "User",
    "UserProfile",
    "UserSettings",
    "VideoGrants",
    "Voice",
    "WebhookEvent",
    "WebhookReceiver",
    "assistant_token",
]
